// The keep rules that come with the package.
import { defaultRule } from './default-rule.ts'
import { greedyRule } from './greedy-rule.ts'
import { referenceRule } from './reference-rule.ts'

export const judgePlugins = [defaultRule, referenceRule, greedyRule] as const
