// The strategies that come with evsys.
import { defaultStrategy } from './default-strategy.ts'
import { greedy } from './greedy.ts'
import { greedyDedup } from './greedy-dedup.ts'
import { random } from './random.ts'
import { reference } from './reference.ts'

export const searchPlugins = [defaultStrategy, reference, greedy, greedyDedup, random] as const
