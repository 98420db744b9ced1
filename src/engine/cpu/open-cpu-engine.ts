import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import type { Engine } from '../../contracts/index.ts'
import { engineIdText, keepSpeed } from '../engine-speed.ts'
import type { ResolvedModel } from '../files/model-spec.ts'
import { createCpuEngine } from './cpu-engine.ts'
import { openRuntime, type RuntimeOptions } from './open-runtime.ts'

export type OpenCpuEngineOptions = RuntimeOptions & {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
  /** The base model that will be asked for: its weights are read before anybody asks. */
  preload?: string | undefined
  /** False: the speed of the engine is not measured after its first step. */
  measures?: boolean | undefined
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
    preload,
    // Not before: nobody waits then for a first result.
    ...(measures
      ? { afterFirstStep: (id) => keepSpeed(options.cacheFolder, engineIdText(id), () => runtime.gflops()) }
      : {}),
  })
}

// How much memory the arena may claim. It is claimed at once and taken from the machine as it is written, but a process can be bound
// to less than the machine has, and then claiming more fails.
/** What newer versions of Node claim for themselves, with a heap that grows. */
const nodeBytes = 2 ** 30
/** What a thread of WebAssembly claims beside the arena. */
const threadBytes = 32 * 2 ** 20

/** Bytes that this process may claim: those of the machine, or what its own bound leaves beside Node and its threads. */
export function memoryBound(limits: () => string = ownLimits, threads = Math.min(64, availableParallelism())): number {
  const [, text] = /^Max data size +(\d+)/m.exec(limits()) ?? []
  if (text === undefined) return totalmem()
  const bound = Number(text)
  const left = Math.max(bound / 4, bound - nodeBytes - threads * threadBytes)
  return Math.min(totalmem(), Math.floor(left))
}

// Only Linux has them as a file; elsewhere no run is bound.
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
