// The strategies that come with evsys.
import { greedy } from './greedy.ts'
import { random } from './random.ts'
import { reference } from './reference.ts'

export const searchPlugins = [reference, greedy, random] as const
