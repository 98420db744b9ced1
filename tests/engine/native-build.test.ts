import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildNative, cpuLevel, locateNative } from '../../src/engine/cpu/native-build.ts'
import { openRuntime } from '../../src/engine/cpu/open-runtime.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { compiler, quickCompiler } from './kernels/kernel-runtimes.ts'

const folder = temporaryFolders()
const small = { threads: 1, capacityBytes: 1 << 24 }

/** A program that says it is a compiler; what it compiles to is up to `body`. */
function fakeCompiler(version: string, body: string): string {
  const file = join(folder(), 'fake-cc')
  writeFileSync(
    file,
    `#!/bin/sh\ncase "$1" in --version|-dumpmachine) echo '${version}'; exit 0;; esac\nfor out; do :; done\n${body}\n`,
  )
  chmodSync(file, 0o755)
  return file
}

describe('native kernels', () => {
  it('that cannot be compiled are told of, and WebAssembly is used (CPU-42)', async () => {
    const told: string[] = []
    const CC = fakeCompiler('1', 'echo "addon.c:3: error: out of registers" >&2; exit 1')
    const env = { PATH: process.env.PATH, CC }
    const options = { ...small, cacheFolder: folder(), env, onBuild: (text: string) => told.push(text) }
    await using runtime = await openRuntime(options)
    expect(runtime.id.kind).toBe('cpu-wasm')
    expect(told).toEqual([
      expect.stringMatching(/^compiling the engine's kernels with .*fake-cc for \w+, once for this machine$/),
      expect.stringMatching(/cannot be compiled: addon\.c:3: error: out of registers; WebAssembly is used instead/),
    ])
    await expect(openRuntime({ ...options, kind: 'native' })).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
  })

  it('that cannot be loaded are told of, and WebAssembly is used (CPU-42)', async () => {
    const told: string[] = []
    const env = { PATH: process.env.PATH, CC: fakeCompiler('1', 'echo "no addon" > "$out"') }
    const options = { ...small, cacheFolder: folder(), env, onBuild: (text: string) => told.push(text) }
    await using runtime = await openRuntime(options)
    expect(runtime.id.kind).toBe('cpu-wasm')
    expect(told[1]).toMatch(/cannot be used: .*; WebAssembly is used instead/)
  })

  it('whose folder cannot be written to are told of, and WebAssembly is used (CPU-42)', async () => {
    const told: string[] = []
    const cacheFolder = join(folder(), 'a-file')
    writeFileSync(cacheFolder, '')
    const env = { PATH: process.env.PATH, CC: fakeCompiler('1', 'exit 1') }
    await using runtime = await openRuntime({ ...small, cacheFolder, env, onBuild: (text) => told.push(text) })
    expect(runtime.id.kind).toBe('cpu-wasm')
    expect(told[1]).toContain('WebAssembly is used instead')
  })

  it('have a place for each compiler and processor, so that none is loaded where it does not belong (CPU-42)', async () => {
    const cacheFolder = folder()
    const compilers = ['1', '2'].map((version) => fakeCompiler(version, 'exit 1'))
    const flags = (names: string) => `vendor_id : GenuineIntel\nflags : ${names}\n`
    const v3 = 'avx2 fma bmi1 bmi2 f16c abm movbe'
    const v4 = `${v3} avx512f avx512bw avx512dq avx512vl avx512cd`
    const levels = ['', v3, v4].map((names) => cpuLevel('x64', flags(names)))
    const places = await Promise.all(
      compilers.flatMap((each) => levels.map((level) => locateNative(each, { cacheFolder, level }))),
    )
    expect(new Set(places.map(({ file }) => file)).size).toBe(6)
    expect(places.map(({ cpuFeatures }) => cpuFeatures[0])).toEqual([
      'sse2',
      'avx2',
      'avx512',
      'sse2',
      'avx2',
      'avx512',
    ])
    expect(places.every(({ isBuilt }) => !isBuilt)).toBe(true)
  })

  it('are compiled again when that is asked for (CPU-42)', async () => {
    const counter = join(folder(), 'count')
    const CC = fakeCompiler('1', `echo x >> ${counter}; echo y > "$out"`)
    const cacheFolder = folder()
    for (const force of [false, false, true]) await buildNative(CC, { cacheFolder, force })
    expect(readFileSync(counter, 'utf8')).toBe('x\nx\n')
  })

  compiler.it(
    'may be built by several processes at once: all use the same file, and nothing else stays (CPU-42)',
    async () => {
      const cacheFolder = folder()
      const wrap = ['env', `PATH=${quickCompiler(folder())}`]
      await using first = startChild('native-builder', [cacheFolder], { wrap })
      await using second = startChild('native-builder', [cacheFolder], { wrap })
      expect(await Promise.all([first.line(), second.line()])).toEqual(['cpu-native', 'cpu-native'])
      const { file, isBuilt } = await locateNative('cc', { cacheFolder })
      expect(isBuilt).toBe(true)
      expect(readdirSync(dirname(file))).toEqual(['kernels.node'])
    },
    240_000,
  )
})
