// The kernels as an addon of Node with threads of its own.
import { createRequire } from 'node:module'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { arenaRuntime } from './arena-runtime.ts'
import type { NativeBuild } from './native-build.ts'
import type { Runtime } from './runtime.ts'
import { claimMemory } from './wasm-runtime.ts'

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
