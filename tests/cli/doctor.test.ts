import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

/** A PATH with these programs alone: shell scripts that print a line and exit with a code. */
function pathWith(programs: Record<string, { say: string; code?: number | undefined }>): string {
  const bin = folder()
  for (const [name, { say, code = 0 }] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho '${say}'${code === 0 ? '' : ' >&2'}\nexit ${code}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

interface Check {
  name: string
  status: string
  required: boolean
  found: string
  gives?: string | undefined
  get?: string | undefined
}

async function checks(args: readonly string[], options: Parameters<typeof runMain>[1]): Promise<Record<string, Check>> {
  const { stdout, stderr } = await runMain(['doctor', '--json', ...args], options)
  expect(stderr).toBe('')
  return Object.fromEntries(JSON.parse(stdout).checks.map((check: Check) => [check.name, check]))
}

const toolNames = ['git', 'bubblewrap', 'docker', 'C compiler', 'python']

describe('doctor', () => {
  it('says of everything that is missing what it would give and how to get it (CLI-6)', async () => {
    const cwd = folder()
    const env = { PATH: pathWith({}) }
    const { code, stdout, stderr } = await runMain(['doctor'], { cwd, env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // What differs between machines is replaced.
    const same = stdout
      .replaceAll(cwd, '<here>')
      .replace(/^(ok +(?:node|evsys|platform|cores|memory|engine|sandbox|disk) +)\S.*$/gm, '$1<this machine>')
      .replace(/^missing( +sandbox +)\S.*\n(?: {5,}.*\n)*/m, 'ok     $1<this machine>\n')
    await expect(same).toMatchFileSnapshot('golden/doctor.txt')
  })

  it('finds what is there, by asking it (CLI-6)', async () => {
    const path = pathWith({
      git: { say: 'git version 2.39.5' },
      bwrap: { say: 'bubblewrap 0.8.0' },
      docker: { say: 'server 27.1' },
      clang: { say: 'clang version 17' },
      python: { say: 'Python 3.12.1' },
    })
    const found = await checks([], { cwd: folder(), env: { PATH: path } })
    expect(toolNames.map((name) => [found[name]?.status, found[name]?.found])).toEqual([
      ['ok', 'git version 2.39.5'],
      ['ok', 'bubblewrap 0.8.0'],
      ['ok', 'server 27.1'],
      ['ok', 'clang version 17'],
      ['ok', 'Python 3.12.1'],
    ])
  })

  it('tells what does not work from what is not there, and fails for neither (CLI-6)', async () => {
    const path = pathWith({
      docker: { say: 'Cannot connect to the Docker daemon\u001b[31m', code: 1 },
      bwrap: { say: 'No permissions to create new namespace', code: 1 },
    })
    const env = { PATH: `${path}${delimiter}/nowhere` }
    const found = await checks([], { cwd: folder(), env })
    expect(found.docker).toMatchObject({ status: 'broken', get: expect.stringContaining('start the service') })
    expect(found.bubblewrap).toMatchObject({ status: 'broken', found: expect.stringContaining('No permissions') })
    expect(found.git).toMatchObject({ status: 'missing', gives: expect.any(String), get: expect.any(String) })
    const { code, stdout } = await runMain(['doctor'], { cwd: folder(), env })
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001b')
  })

  it('knows machine and project (CLI-6)', async () => {
    const cwd = folder()
    await runMain(['init'], { cwd })
    const found = await checks([], { cwd: join(cwd, 'data') })
    expect(found.project).toMatchObject({ status: 'ok', found: cwd })
    expect(found['project files']).toMatchObject({ status: 'ok', required: true })
    expect(found.node).toMatchObject({ status: 'ok', found: process.versions.node })
    expect(found.disk?.found).toMatch(/^\d+\.\d GB free of \d+\.\d GB$/)
    expect(found.cores?.found).toMatch(/^\d+/)
    expect(found.memory?.found).toMatch(/^\d+\.\d GB/)
  })

  it('knows the engine: its id, threads and speed, or what is wrong with it (CPU-40)', async () => {
    const none = await checks([], { cwd: folder(), env: { PATH: pathWith({}) } })
    expect(none.engine).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/^cpu-wasm-\S+, \d+ threads?, [\d.]+ GFLOP\/s \(no C compiler was found\)$/),
    })
    const wrong = await checks([], { cwd: folder(), env: { EVSYS_ENGINE: 'gpu' } })
    expect(wrong.engine).toMatchObject({ status: 'broken', found: 'EVSYS_ENGINE is "gpu"', required: false })
    const unbuilt = await checks([], {
      cwd: folder(),
      env: { PATH: pathWith({ cc: { say: 'cc 1' } }), EVSYS_CACHE: folder() },
    })
    expect(unbuilt.engine).toMatchObject({ status: 'ok', found: expect.stringContaining('`evsys engine build`') })
  })

  it('knows the level of the sandbox and who keeps its limits (BOX-9)', async () => {
    const { sandbox } = await checks([], { cwd: folder(), env: { PATH: pathWith({}) } })
    expect(sandbox).toMatchObject({ required: false })
    const shown = /^(bubblewrap|chroot|container); memory by \S.*, processes by \S.*$/
    if (sandbox?.status === 'ok') expect(sandbox.found).toMatch(shown)
    else expect(sandbox).toMatchObject({ status: 'missing', get: expect.stringContaining('bubblewrap') })
  })

  it('fails when something required is broken (CLI-3, CLI-6)', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, 'experiments'))
    writeFileSync(join(cwd, '.evsys'), 'a file in the place of the folder')
    mkdirSync(join(cwd, 'src/plugins'), { recursive: true })
    const { code, stdout } = await runMain(['doctor'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^broken +project files +cannot write to /m)
    expect(stdout).toContain('1 required part does not work')
    expect(JSON.parse((await runMain(['doctor', '--json'], { cwd })).stdout).ok).toBe(false)
  })

  it('refuses a project that is not there (CLI-6)', async () => {
    const { code, stderr } = await runMain(['doctor', '--project', 'nowhere'], { cwd: folder() })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^PROJECT_MISSING\n/)
  })

  it('wraps advice to the terminal (CLI-6)', async () => {
    const env = { PATH: pathWith({}), NO_COLOR: '1' }
    const { stdout } = await runMain(['doctor'], { cwd: dirname(folder()), env, columns: 70 })
    const advice = stdout.split('\n').filter((line) => line.startsWith('     '))
    expect(advice.length).toBeGreaterThan(5)
    for (const line of advice) expect(line.length).toBeLessThanOrEqual(70)
  })
})
