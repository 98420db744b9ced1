import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildWasm, opsHeader, wasmCompiler, wasmModules } from '../scripts/build-kernels.ts'
import { nativeFolder } from '../src/engine/cpu/native-folder.ts'
import { needs } from './needs.ts'
import { temporaryFolders } from './temporary-folder.ts'

const folder = temporaryFolders()
const clang = needs(wasmCompiler, () => spawnSync(wasmCompiler, ['--version']).status === 0 || 'not on the PATH')

describe('what is committed of the kernels', () => {
  it('has the operations of the table (CPU-4)', () => {
    expect(readFileSync(join(nativeFolder, 'ops.h'), 'utf8')).toBe(opsHeader())
  })

  for (const name of Object.keys(wasmModules)) {
    clang.it(
      `is what the sources compile to: ${name} (CPU-4)`,
      () => {
        const target = join(folder(), name)
        buildWasm(name, target)
        expect(readFileSync(target).equals(readFileSync(join(nativeFolder, 'wasm', name)))).toBe(true)
      },
      60_000,
    )
  }
})
