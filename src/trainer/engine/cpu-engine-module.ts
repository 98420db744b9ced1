// The CPU engine as a module for a thread: its kernels are compiled, or loaded, when it is opened.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { openCpuEngine } from '../../engine/index.ts'
import { folderModels } from './folder-models.ts'
import type { ThreadContext } from './thread-messages.ts'

const Options = z.strictObject({ folders: z.record(z.string(), z.string()), cacheFolder: z.string() })

export function openEngine(options: unknown, { notice }: ThreadContext): Promise<Engine> {
  const { folders, cacheFolder } = Options.parse(options)
  return openCpuEngine({ resolve: folderModels(folders), cacheFolder, onBuild: notice })
}
