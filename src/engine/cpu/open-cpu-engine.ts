// The CPU engine on this machine: opened, or inspected before a run trains with it (which kernels and why, their place, their speed).
import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Engine } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { engineIdText, keepSpeed } from '../engine-speed.ts'
import { type CpuEngineOptions, createCpuEngine } from './cpu-engine.ts'
import { buildNative, cpuLevel, findCompiler, locateNative, type NativeBuildOptions } from './native-build.ts'
import { sourceHash } from './native-folder.ts'
import { kindAsked, noCompiler, openRuntime, type RuntimeOptions } from './open-runtime.ts'

export type OpenCpuEngineOptions = RuntimeOptions &
  Pick<CpuEngineOptions, 'resolve' | 'preload'> & {
    /** False: the speed of the engine is not measured after its first step. */
    measures?: boolean | undefined
  }

/** Opens the fastest kernels that this machine has, and an engine on them. */
export async function openCpuEngine(options: OpenCpuEngineOptions): Promise<Engine> {
  const { resolve, preload, measures = true, cacheFolder } = options
  const runtime = await openRuntime({ capacityBytes: memoryBound(), ...options })
  // Not before the first step: its result is not to wait.
  const measureSpeed: CpuEngineOptions['afterFirstStep'] = (id) =>
    keepSpeed(cacheFolder, engineIdText(id), () => runtime.gflops())
  return createCpuEngine({ resolve, runtime, preload, afterFirstStep: measures ? measureSpeed : undefined })
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

/** A compiler of this machine, and the build that it makes. */
export interface NativeState {
  readonly compiler: string
  readonly compilerVersion: string
  readonly file: string
  readonly isBuilt: boolean
}

export interface CpuEngineInfo {
  /** What is used when a run begins. */
  readonly kernels: 'native' | 'wasm'
  readonly why: string
  /** Of the kernels' source. */
  readonly sourceHash: string
  /** The vector instructions that native kernels are compiled for here. */
  readonly cpuFeatures: string
  /** Absent: there is no compiler. */
  readonly native?: NativeState | undefined
  /** Absent where the kernels are to be compiled first. */
  readonly measured?: MeasuredEngine | undefined
  /** Why the kernels that were chosen could not be used, where others were measured in their place. */
  readonly problem?: string | undefined
}

/** An engine that was opened: its id as the record of a run has it, and its speed. */
export interface MeasuredEngine {
  readonly id: string
  readonly threads: number
  /** Of large products, in 10^9 operations per second. */
  readonly gflops: number
}

type Options = Pick<NativeBuildOptions, 'cacheFolder'> & { env: NodeJS.ProcessEnv }

/** Which kernels would be used and how fast they are. Compiles nothing. */
export async function inspectCpuEngine({ cacheFolder, env }: Options): Promise<CpuEngineInfo> {
  const asked = kindAsked(env) ?? 'auto'
  const compiler = await findCompiler(env)
  if (asked === 'native' && compiler === undefined) throw noCompiler()
  const native = compiler === undefined ? undefined : await nativeState(compiler, { cacheFolder, env })
  const kernels = asked === 'wasm' || native === undefined ? 'wasm' : 'native'
  const known = {
    kernels,
    why: asked === 'auto' ? foundBecause(compiler, env) : `EVSYS_ENGINE=${asked}`,
    sourceHash: sourceHash(),
    cpuFeatures: cpuLevel().name,
    native,
  } as const
  if (kernels === 'native' && native?.isBuilt !== true) return known
  let problem: string | undefined
  const onBuild = (text: string) => {
    problem = text
  }
  const measured = await measure({ cacheFolder, env, onBuild })
  return { ...known, measured, problem }
}

/** A build, and what it took. */
export interface NativeBuilt {
  readonly native: NativeState
  readonly cpuFeatures: string
  readonly sourceHash: string
  /** Seconds that compiling took; absent: the build was there. */
  readonly tookS?: number | undefined
  readonly measured: MeasuredEngine
}

/** Compiles the native kernels unless they are there, and tries them. */
export async function buildCpuEngine(
  options: Options & Pick<NativeBuildOptions, 'force' | 'onBuild'>,
): Promise<NativeBuilt> {
  const { cacheFolder, env, onBuild } = options
  const compiler = await findCompiler(env)
  if (compiler === undefined) throw noCompiler()
  let began: number | undefined
  const announce = (text: string) => {
    began = performance.now()
    onBuild?.(text)
  }
  await buildNative(compiler, { ...options, onBuild: announce })
  const tookS = began === undefined ? undefined : (performance.now() - began) / 1000
  return {
    native: await nativeState(compiler, { cacheFolder, env }),
    cpuFeatures: cpuLevel().name,
    sourceHash: sourceHash(),
    tookS,
    measured: await measure({ cacheFolder, env: { ...env, EVSYS_ENGINE: 'native' } }),
  }
}

async function nativeState(compiler: string, options: Options): Promise<NativeState> {
  const { compilerVersion, file, isBuilt } = await locateNative(compiler, options)
  return { compiler, compilerVersion, file, isBuilt }
}

function foundBecause(compiler: string | undefined, { CC }: NodeJS.ProcessEnv): string {
  if (compiler !== undefined) return `a C compiler was found: ${compiler}`
  return CC ? `CC is "${CC}", which is no compiler that works` : 'no C compiler was found'
}

/** Room for the products that are timed. */
const arenaBytes = 2 ** 26

async function measure(options: Options & Pick<NativeBuildOptions, 'onBuild'>): Promise<MeasuredEngine> {
  const runtime = await openRuntime({ ...options, capacityBytes: arenaBytes })
  await using engine = createCpuEngine({
    runtime,
    resolve: () => Promise.reject(new EvsysError('INTERNAL', 'an engine that is inspected has no models')),
  })
  return { id: engineIdText(engine.id), threads: engine.id.threads, gflops: runtime.gflops() }
}
