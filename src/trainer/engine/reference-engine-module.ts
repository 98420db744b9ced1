// The reference engine as a module for a thread.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { createReferenceEngine } from '../../engine/index.ts'
import { folderModels } from './folder-models.ts'

const Options = z.strictObject({ folders: z.record(z.string(), z.string()) })

export function openEngine(options: unknown): Engine {
  return createReferenceEngine({ resolve: folderModels(Options.parse(options).folders) })
}
