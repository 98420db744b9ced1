// Chooses what the CPU engine computes on: native kernels where they can be built, WebAssembly everywhere else.
import { availableParallelism, totalmem } from 'node:os'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { buildNative, findCompiler, type NativeBuildOptions } from './native-build.ts'
import { openNativeRuntime } from './native-runtime.ts'
import type { Runtime } from './runtime.ts'
import { openWasmRuntime } from './wasm-runtime.ts'

export type RuntimeKind = 'auto' | 'native' | 'wasm'

export type RuntimeOptions = NativeBuildOptions & {
  /** `auto` is native where it can be built. The environment's EVSYS_ENGINE stands above it. */
  kind?: RuntimeKind | undefined
  /** All cores unless told otherwise. */
  threads?: number | undefined
  /** Size of the arena: an upper bound, taken from the machine as it is used. */
  capacityBytes?: number | undefined
  env?: NodeJS.ProcessEnv | undefined
}

/** The most that WebAssembly can address. */
const wasmBytes = 2 ** 32
/** The most that offsets in a program reach. */
const nativeBytes = 2 ** 34

/** Opens the fastest kernels that this machine can have, or those that were asked for. */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { env = process.env, threads = Math.min(64, availableParallelism()), capacityBytes = totalmem() } = options
  const kind = kindAsked(env) ?? options.kind ?? 'auto'
  const compiler = kind === 'wasm' ? undefined : await findCompiler(env)
  if (kind === 'native' && compiler === undefined) throw noCompiler()
  if (compiler !== undefined) {
    try {
      const build = await buildNative(compiler, options)
      return openNativeRuntime(build, { threads, capacityBytes: Math.min(capacityBytes, nativeBytes) })
    } catch (error) {
      if (kind === 'native') throw error
      options.onBuild?.(`${messageOf(error)}; WebAssembly is used instead, which is slower`)
    }
  }
  return openWasmRuntime({ threads, capacityBytes: Math.min(capacityBytes, wasmBytes) })
}

/** Native kernels were asked for where they cannot be made. */
export function noCompiler(): EvsysError {
  return new EvsysError('BACKEND_REFUSED', 'native kernels need a C compiler, and none was found', {
    fix: 'install one (on Debian: apt-get install gcc), or set EVSYS_ENGINE=wasm.',
  })
}

/** What EVSYS_ENGINE asks for; undefined where it is not set. */
export function kindAsked({ EVSYS_ENGINE: value }: NodeJS.ProcessEnv): RuntimeKind | undefined {
  if (value === undefined || value === '') return undefined
  if (value === 'auto' || value === 'native' || value === 'wasm') return value
  throw new EvsysError('CONFIG_INVALID', `EVSYS_ENGINE is "${value}"`, { fix: 'use auto, native or wasm.' })
}
