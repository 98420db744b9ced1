// The built-in plugins of this room.
import { scoreOnly } from './score-only.ts'
import { sft } from './sft.ts'

export const algorithmPlugins = [scoreOnly, sft] as const
