// The mock engine as a module for a thread.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { loadMockEngine } from '../../engine/index.ts'

const Options = z.strictObject({ vocabSize: z.int().min(1) })

export async function openEngine(options: unknown): Promise<Engine> {
  const { createMockEngine } = await loadMockEngine()
  return createMockEngine(Options.parse(options))
}
