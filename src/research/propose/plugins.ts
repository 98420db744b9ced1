// The built-in proposers.
import { optimizer } from './optimizer/optimizer.ts'

export const proposePlugins = [optimizer] as const
