import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorReport } from '../../src/contracts/index.ts'
import { quickCompiler } from '../engine/kernels/kernel-runtimes.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const compiler = needs('a C compiler', () => spawnSync('cc', ['--version']).status === 0 || 'no cc')

/** A PATH with nothing but a compiler that says it is one and fails. */
function brokenCompiler(): string {
  const bin = folder()
  const script = `#!/bin/sh\ncase "$1" in --version|-dumpmachine) echo 'broken 1.0';; *) echo 'kernels.c:1: error: no room' >&2; exit 1;; esac\n`
  writeFileSync(join(bin, 'cc'), script)
  chmodSync(join(bin, 'cc'), 0o755)
  return bin
}

describe('engine info', () => {
  it('tells which kernels are used and why, their id and their speed (CPU-40)', async () => {
    const env = { PATH: folder(), EVSYS_CACHE: folder() }
    const { code, stdout, stderr } = await runMain(['engine', 'info', '--json'], { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      engine: 'cpu',
      kernels: 'wasm',
      why: 'no C compiler was found',
      engine_id: expect.stringMatching(/^cpu-wasm-[0-9a-f]{16}-/),
      threads: expect.any(Number),
      gflops: expect.any(Number),
      kernels_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      cpu_features: expect.any(String),
      native: { state: 'no compiler' },
    })
    const text = await runMain(['engine', 'info'], { env })
    expect(text.stdout).toMatch(/^engine +cpu, WebAssembly kernels: no C compiler was found\nid +cpu-wasm-/)
    expect(text.stdout).toMatch(/^speed +[\d.]+ GFLOP\/s$/m)
    expect(text.stdout).toMatch(/^native +not available: install a C compiler/m)
  })

  it('follows EVSYS_ENGINE, and says what it may be (CPU-40)', async () => {
    const forced = await runMain(['engine', 'info', '--json'], { env: { EVSYS_ENGINE: 'wasm', EVSYS_CACHE: folder() } })
    expect(JSON.parse(forced.stdout)).toMatchObject({ kernels: 'wasm', why: 'EVSYS_ENGINE=wasm' })
    const wrong = await runMain(['engine', 'info', '--json'], { env: { EVSYS_ENGINE: 'gpu' } })
    expect(wrong.code).toBe(2)
    expect(ErrorReport.parse(JSON.parse(wrong.stdout)).errors).toMatchObject([
      { code: 'CONFIG_INVALID', message: 'EVSYS_ENGINE is "gpu"', fix: expect.stringContaining('wasm') },
    ])
    const absent = await runMain(['engine', 'info'], { env: { EVSYS_ENGINE: 'native', PATH: folder() } })
    expect([absent.code, absent.stderr]).toEqual([
      1,
      expect.stringMatching(/^BACKEND_REFUSED\n.*\n {2}fix: install one/),
    ])
  })

  it('says that CC leads nowhere (CPU-40)', async () => {
    const { stdout } = await runMain(['engine', 'info', '--json'], { env: { CC: 'no-such-compiler' } })
    expect(JSON.parse(stdout).why).toBe('CC is "no-such-compiler", which is no compiler that works')
  })

  it('compiles nothing (CPU-40)', async () => {
    const cache = folder()
    const env = { PATH: brokenCompiler(), EVSYS_CACHE: cache }
    const { stdout } = await runMain(['engine', 'info', '--json'], { env })
    const { native, ...found } = JSON.parse(stdout)
    expect(found).toMatchObject({ kernels: 'native', why: 'a C compiler was found: cc' })
    expect(found).not.toHaveProperty('gflops')
    expect(native).toMatchObject({ state: 'not built', compiler: 'cc', compiler_version: 'broken 1.0' })
    expect(readdirSync(cache)).toEqual([])
  })
})

describe('engine build', () => {
  compiler.it(
    'compiles once, says so, and tells time, compiler, processor and place (CPU-41)',
    async () => {
      const env = { EVSYS_CACHE: folder(), PATH: quickCompiler(folder()) }
      const first = await runMain(['engine', 'build', '--json'], { env })
      expect(first.code, first.stdout).toBe(0)
      expect(first.stderr).toMatch(/^notice: compiling the engine's kernels with cc for \w+, once for this machine\n$/)
      const built = JSON.parse(first.stdout)
      expect(built).toEqual({
        built: true,
        took_s: expect.any(Number),
        compiler: 'cc',
        compiler_version: expect.stringMatching(/\w/),
        cpu_features: expect.any(String),
        kernels_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        file: expect.stringContaining(env.EVSYS_CACHE),
        engine_id: expect.stringMatching(/^cpu-native-/),
        threads: expect.any(Number),
        gflops: expect.any(Number),
      })
      expect(existsSync(built.file)).toBe(true)
      const again = await runMain(['engine', 'build'], { env })
      expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('there already; --force compiles')])
      const info = await runMain(['engine', 'info', '--json'], { env })
      expect(JSON.parse(info.stdout)).toMatchObject({
        kernels: 'native',
        engine_id: built.engine_id,
        native: { state: 'built', file: built.file },
      })
    },
    60_000,
  )

  it('says that there is no compiler, or what it complained of (CPU-41)', async () => {
    const none = await runMain(['engine', 'build', '--json'], { env: { PATH: folder() } })
    expect(none.code).toBe(1)
    expect(ErrorReport.parse(JSON.parse(none.stdout)).errors).toMatchObject([
      { code: 'BACKEND_REFUSED', fix: expect.stringContaining('apt-get install gcc') },
    ])
    const cache = folder()
    const broken = await runMain(['engine', 'build', '--json'], { env: { PATH: brokenCompiler(), EVSYS_CACHE: cache } })
    expect(broken.code).toBe(1)
    expect(ErrorReport.parse(JSON.parse(broken.stdout)).errors).toMatchObject([
      { code: 'BACKEND_FAILED', message: expect.stringContaining('kernels.c:1: error: no room') },
    ])
  })

  it('refuses words that it does not know (CPU-41)', async () => {
    const { code, stderr } = await runMain(['engine', 'biuld'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean "build"?')])
    expect((await runMain(['engine', 'info', '--force'])).code).toBe(2)
  })
})
