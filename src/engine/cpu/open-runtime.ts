// Chooses what the CPU engine computes on: native kernels where they can be built, WebAssembly everywhere else.
import { createRequire } from 'node:module'
import { availableParallelism, totalmem } from 'node:os'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { arenaRuntime } from './arena-runtime.ts'
import { buildNative, findCompiler, type NativeBuild, type NativeBuildOptions } from './native-build.ts'
import type { Runtime } from './runtime.ts'
import { claimMemory, openWasmRuntime } from './wasm-runtime.ts'

export type RuntimeKind = 'auto' | 'native' | 'wasm'

export type RuntimeOptions = NativeBuildOptions & {
  /** `auto` is native where it can be built. The environment's EVSYS_ENGINE stands above it. */
  kind?: RuntimeKind | undefined
  /** Default: all cores. */
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

// The kernels as an addon of Node with its own threads.
type Addon = {
  open(threads: number, bytes: number): object
  window(pool: object, offset: number, bytes: number): ArrayBuffer
  run(pool: object, offset: number, words: number): number
  detach(window: ArrayBuffer): void
  close(pool: object): void
}

// Node 20 shows at most 4 GiB as one buffer. Windows overlap by half, so that any view of up to 2 GiB lies in one of them.
const windowBytes = 2 ** 32
const windowStep = windowBytes / 2

/** Opens the kernels of a build. */
export function openNativeRuntime(
  { file, sourceHash, cpuFeatures }: NativeBuild,
  { threads, capacityBytes: most }: { threads: number; capacityBytes: number },
): Runtime {
  const { addon, pool, capacityBytes } = open(file, threads, most)
  const windows: ArrayBuffer[] = []
  for (let from = 0; from === 0 || from + windowStep < capacityBytes; from += windowStep) {
    windows.push(addon.window(pool, from, Math.min(windowBytes, capacityBytes - from)))
  }
  return arenaRuntime({
    id: { kind: 'cpu-native', sourceHash, threads, cpuFeatures },
    capacityBytes,
    start: 0,
    window(offset) {
      const index = Math.min(Math.floor(offset / windowStep), windows.length - 1)
      return { buffer: windows[index] ?? new ArrayBuffer(0), offset: offset - index * windowStep }
    },
    execute: (offset, words) => addon.run(pool, offset, words),
    async close() {
      for (const window of windows) addon.detach(window)
      addon.close(pool)
    },
  })
}

function open(file: string, threads: number, most: number) {
  try {
    const addon: Addon = createRequire(import.meta.url)(file)
    const { claimed: pool, bytes: capacityBytes } = claimMemory(most, (bytes) => addon.open(threads, bytes))
    return { addon, pool, capacityBytes }
  } catch (cause) {
    throw new EvsysError('BACKEND_FAILED', `the engine's native kernels cannot be used: ${messageOf(cause)}`, {
      cause,
      fix: 'set EVSYS_ENGINE=wasm to use the kernels that need no compiler.',
    })
  }
}
