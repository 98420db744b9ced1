// The CPU engine as a module for a process: its kernels are compiled, or loaded, when it is opened.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { loadCpuEngine } from '../../engine/index.ts'
import type { EngineContext } from './engine-messages.ts'
import { folderModels } from './folder-models.ts'

const loading = loadCpuEngine() // with this module: it may be there before anybody opens an engine
loading.catch(() => {}) // told when one is opened

const Options = z.strictObject({ folders: z.record(z.string(), z.string()), cacheFolder: z.string() })

export async function openEngine(options: unknown, { notice }: EngineContext): Promise<Engine> {
  const { openCpuEngine } = await loading
  const { folders, cacheFolder } = Options.parse(options)
  const [only, ...others] = Object.keys(folders)
  const early = only === undefined || others.length > 0 ? {} : { preload: only }
  return openCpuEngine({ resolve: folderModels(folders), cacheFolder, onBuild: notice, ...early })
}
