// The reference engine as a module for a thread.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { loadReferenceEngine } from '../../engine/index.ts'
import { folderModels } from './folder-models.ts'

const Options = z.strictObject({ folders: z.record(z.string(), z.string()) })

export async function openEngine(options: unknown): Promise<Engine> {
  const { createReferenceEngine } = await loadReferenceEngine()
  return createReferenceEngine({ resolve: folderModels(Options.parse(options).folders) })
}
