// Everything of evsys that reads what others wrote, and inputs for it that are wrong: valid ones with bytes, lines or values changed at
// random (from a key), and `bombs`, small texts that would become long work or much memory.
import type { KeyedRandom } from '../../src/kernel/index.ts'
import { configKinds } from './config-kinds.ts'
import { dataKinds } from './data-kinds.ts'
import { modelKinds } from './model-kinds.ts'
import { recordKinds } from './record-kinds.ts'
import { requestKinds } from './request-kinds.ts'

export type Input = string | Uint8Array

export type Kind = {
  readonly name: string
  /** Valid inputs, that are damaged. */
  seeds(): Promise<readonly Input[]> | readonly Input[]
  /** Other ways of damage than `damaged`. */
  readonly mutate?: ((seed: Input, random: KeyedRandom) => Input) | undefined
  /** By name. */
  readonly bombs: Readonly<Record<string, () => Input>>
  /** How many damaged inputs the whole run tries. */
  readonly count: number
  /** Reads an input in an empty folder. Anything that is thrown must be a typed error. */
  use(input: Input, dir: string): Promise<unknown>
}

export const kinds: readonly Kind[] = [...configKinds, ...dataKinds, ...modelKinds, ...recordKinds, ...requestKinds]
