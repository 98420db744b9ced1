// Every way to run the kernels.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildNative } from '../../../src/engine/cpu/native-build.ts'
import { openNativeRuntime } from '../../../src/engine/cpu/open-runtime.ts'
import type { Runtime } from '../../../src/engine/cpu/runtime.ts'
import { openWasmRuntime } from '../../../src/engine/cpu/wasm-runtime.ts'
import { needs } from '../../needs.ts'

const capacityBytes = 1 << 24
/** Builds stay between runs of the tests, and all tests share them: their key tells when they are of other sources. */
export const builtKernels = fileURLToPath(new URL('../../../node_modules/.cache/evsys', import.meta.url))

export const compiler = needs('a C compiler', () => spawnSync('cc', ['--version']).status === 0 || 'no cc')

/**
 * A folder to put first on the PATH, whose `cc` compiles without optimization: in a tenth of the time, where what counts is that
 * something is compiled, kept and loaded.
 */
export function quickCompiler(folder: string): string {
  const [cc = ''] = (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, 'cc'))
    .filter((file) => existsSync(file))
  writeFileSync(join(folder, 'cc'), `#!/bin/sh\nexec '${cc}' "$@" -O0\n`, { mode: 0o755 })
  return [folder, process.env.PATH].join(delimiter)
}

/** Opens natively built kernels. */
export async function openNative(threads: number): Promise<Runtime> {
  return openNativeRuntime(await buildNative('cc', { cacheFolder: builtKernels }), { threads, capacityBytes })
}

/** Opens WebAssembly kernels. */
export const openWasm = (threads: number, relaxed: boolean) => openWasmRuntime({ threads, capacityBytes, relaxed })
