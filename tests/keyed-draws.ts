// Chance for tests of rooms that stand beside the kernel and may not import it: the kernel's generator, by path.

import type { Random, SeedPath } from '../src/contracts/index.ts'
import { keyedRandom } from '../src/kernel/index.ts'

/** The generator at a path: equal paths draw alike on every machine and in every lane. */
export function draws(...path: SeedPath): Random {
  return keyedRandom(1, ...path)
}
