// The built-in plugins of this room, a list per folder.

import { builtins } from '../builtins/index.ts'
import type { AnyPlugin } from '../contracts/index.ts'
import { defaultRule, greedyRule, referenceRule } from './keep/keep-rules.ts'
import { cliAgent } from './propose/cli/cli-agent.ts'
import { hybrid } from './propose/hybrid.ts'
import { anthropic, openaiCompatible } from './propose/llm/model-proposers.ts'
import { optimizer } from './propose/optimizer/optimizer.ts'
import { bank } from './propose/recorded/bank.ts'
import { replay } from './propose/recorded/replay.ts'
import { defaultStrategy } from './search/default-strategy.ts'
import { greedy, greedyDedup, random, reference } from './search/strategies.ts'

/** Search strategies. */
export const searchPlugins = [defaultStrategy, reference, greedy, greedyDedup, random] as const

/** Keep rules. */
export const keepPlugins = [defaultRule, referenceRule, greedyRule] as const

/** Proposers. */
const proposePlugins = [anthropic, bank, cliAgent, hybrid, openaiCompatible, optimizer, replay] as const

export const researchPlugins = [...searchPlugins, ...keepPlugins, ...proposePlugins] as const

// The lab cannot know the plugins of rooms above it: what lists or opens any plugin takes them from here.
/** Every plugin that comes with evsys: those that an experiment can name, then those of the research loop. */
export async function allBuiltins(): Promise<readonly AnyPlugin[]> {
  return Object.freeze([...(await builtins()), ...researchPlugins])
}
