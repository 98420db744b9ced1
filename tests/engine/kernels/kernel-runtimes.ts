// Every way to run the kernels.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildNative } from '../../../src/engine/cpu/native-build.ts'
import { openNativeRuntime } from '../../../src/engine/cpu/open-runtime.ts'
import type { Runtime } from '../../../src/engine/cpu/runtime.ts'
import { openWasmRuntime } from '../../../src/engine/cpu/wasm-runtime.ts'
import { needs } from '../../needs.ts'

const capacityBytes = 1 << 24
/** Builds stay between runs of the tests: their key tells when they are of other sources. */
const cacheFolder = fileURLToPath(new URL('../../../node_modules/.cache/evsys', import.meta.url))

export const compiler = needs('a C compiler', () => spawnSync('cc', ['--version']).status === 0 || 'no cc')

/** Opens natively built kernels. */
export async function openNative(threads: number): Promise<Runtime> {
  return openNativeRuntime(await buildNative('cc', { cacheFolder }), { threads, capacityBytes })
}

/** Opens WebAssembly kernels. */
export const openWasm = (threads: number, relaxed: boolean) => openWasmRuntime({ threads, capacityBytes, relaxed })
