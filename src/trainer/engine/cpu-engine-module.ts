// The CPU engine as a module for a process: its kernels are compiled, or loaded, when it is opened.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { openCpuEngine } from '../../engine/index.ts'
import type { EngineContext } from './engine-messages.ts'
import { folderModels } from './folder-models.ts'

const Options = z.strictObject({ folders: z.record(z.string(), z.string()), cacheFolder: z.string() })

export function openEngine(options: unknown, { notice }: EngineContext): Promise<Engine> {
  const { folders, cacheFolder } = Options.parse(options)
  return openCpuEngine({ resolve: folderModels(folders), cacheFolder, onBuild: notice })
}
