import type { Engine } from '../../contracts/index.ts'
import { engineIdText } from '../engine-id-text.ts'
import { keepSpeed } from '../engine-speed.ts'
import type { ResolvedModel } from '../resolved-model.ts'
import { createCpuEngine } from './cpu-engine.ts'
import { memoryBound } from './memory-bound.ts'
import { openRuntime, type RuntimeOptions } from './runtime/open-runtime.ts'

export type OpenCpuEngineOptions = RuntimeOptions & {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
  /** The base model that will be asked for: its weights are read before anybody asks. */
  preload?: string
  /** False: the speed of the engine is not measured after its first step. */
  measures?: boolean
}

/** Opens the fastest kernels that this machine has, and an engine on them. */
export async function openCpuEngine({
  resolve,
  preload,
  measures = true,
  ...options
}: OpenCpuEngineOptions): Promise<Engine> {
  const runtime = await openRuntime({ capacityBytes: memoryBound(), ...options })
  return createCpuEngine({
    resolve,
    runtime,
    ...(preload === undefined ? {} : { preload }),
    // Not before: nobody waits then for a first result.
    ...(measures
      ? { afterFirstStep: (id) => keepSpeed(options.cacheFolder, engineIdText(id), () => runtime.gflops()) }
      : {}),
  })
}
