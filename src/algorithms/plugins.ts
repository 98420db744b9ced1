// The built-in plugins of this room.
import { sft } from './sft.ts'

export const algorithmPlugins = [sft] as const
