// The kernels under the sanitizers of the compiler, in a process of their own for each program: what they find ends it with a report.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arenaRuntime } from '../../../src/engine/cpu/arena-runtime.ts'
import { cpuLevel } from '../../../src/engine/cpu/native-build.ts'
import { nativeFolder, sourceHash } from '../../../src/engine/cpu/native-folder.ts'
import type { Runtime } from '../../../src/engine/cpu/runtime.ts'

/** Builds the program that runs programs; the reason where the compiler has no sanitizers. */
export function buildSanitized(folder: string): true | string {
  const flags = ['-std=gnu11', '-O1', '-g', '-ffp-contract=fast', '-fno-math-errno', '-fno-trapping-math', '-pthread']
  const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', ...cpuLevel().flags]
  const args = [...flags, ...sanitizers, join(nativeFolder, 'check.c'), '-o', join(folder, 'check')]
  const { status, stderr, error } = spawnSync('cc', args, { encoding: 'utf8' })
  return status === 0 || (error?.message ?? stderr)
}

/** A runtime whose every run is a process with the memory in a file. */
export function openSanitized(folder: string, threads: number): Runtime {
  const memory = new ArrayBuffer(1 << 23)
  const file = join(folder, 'memory')
  return arenaRuntime({
    id: { kind: 'cpu-sanitized', sourceHash: sourceHash(), threads, cpuFeatures: [] },
    capacityBytes: memory.byteLength,
    start: 0,
    window: (offset) => ({ buffer: memory, offset }),
    execute(offset, words) {
      writeFileSync(file, new Uint8Array(memory))
      const args = [file, threads, offset, words].map(String)
      const { status, stdout, stderr } = spawnSync(join(folder, 'check'), args, { encoding: 'utf8' })
      if (status !== 0 || stderr !== '') throw new Error(stderr || `the check ended with ${status}`)
      new Uint8Array(memory).set(readFileSync(file))
      return Number(stdout)
    },
    close: async () => {},
  })
}
