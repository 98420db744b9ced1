// The mock engine as a module for a thread.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { createMockEngine } from '../../engine/index.ts'

const Options = z.strictObject({ vocabSize: z.int().min(1) })

export function openEngine(options: unknown): Engine {
  return createMockEngine(Options.parse(options))
}
