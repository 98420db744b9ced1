import type { Engine } from '../../contracts/index.ts'
import type { ResolvedModel } from '../resolved-model.ts'
import { createCpuEngine } from './cpu-engine.ts'
import { memoryBound } from './memory-bound.ts'
import { openRuntime, type RuntimeOptions } from './runtime/open-runtime.ts'

export type OpenCpuEngineOptions = RuntimeOptions & {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
}

/** Opens the fastest kernels that this machine has, and an engine on them. */
export async function openCpuEngine({ resolve, ...options }: OpenCpuEngineOptions): Promise<Engine> {
  return createCpuEngine({ resolve, runtime: await openRuntime({ capacityBytes: memoryBound(), ...options }) })
}
