import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { root } from './run-main.ts'
import { cleanEnv, evsysBin, runProcess } from './run-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('bin/evsys.js', () => {
  it('prints the version and help (CLI-4)', async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    expect(await runProcess(['--version'])).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' })
    const { stdout } = await runProcess(['--help'])
    expect(stdout).toBe(readFileSync(new URL('golden/help.txt', import.meta.url), 'utf8'))
  })

  it('exits with the code of the command (CLI-3)', async () => {
    const { code, stdout, stderr } = await runProcess(['validate', 'no-such-file.yaml'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('CONFIG_READ')
  })

  it('tells an old Node what to do, before it imports anything (CLI-3)', async () => {
    const preload = join(folder, 'old-node.cjs')
    writeFileSync(
      preload,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })\n`,
    )
    const { code, stdout, stderr } = await runProcess(['--version'], { nodeArgs: ['--require', preload] })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^evsys needs Node 20\.12 or newer, this is 18\.19\.0\.\n {2}fix: /)
  })

  it.each([
    ['an exception', "throw new TypeError('late')"],
    ['a rejection', "Promise.reject(new TypeError('late'))"],
  ])('reports %s that nobody awaits, without a stack trace (CLI-3)', async (_name, statement) => {
    const preload = join(folder, 'late.cjs')
    // Thrown from the event loop as soon as the program listens to signals.
    const late = `event === 'SIGTERM' && setImmediate(() => { ${statement} })`
    writeFileSync(preload, `process.on('newListener', (event) => { ${late} })\n`)
    const { code, stdout, stderr } = await runProcess(['validate', '-'], {
      nodeArgs: ['--require', preload],
      stdin: null,
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^INTERNAL\n {2}late\n {2}fix: .*\n$/)
  })

  it('that would wait for ever says so, and is not taken for done (CLI-3)', async () => {
    const preload = join(folder, 'never-read.cjs')
    const open = `const { promises } = require('node:fs'); const { open } = promises`
    const waits = `promises.open = (path, ...rest) => String(path).endsWith('e.yaml') ? new Promise(() => {}) : open(path, ...rest)`
    writeFileSync(preload, `${open}\n${waits}\n`)
    writeFileSync(join(folder, 'e.yaml'), 'version: 1\n')
    const result = await runProcess(['validate', 'e.yaml'], { cwd: folder, nodeArgs: ['--require', preload] })
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('the command is not done') })
  })

  it('is quiet when the reader of stdout goes away (CLI-2)', async () => {
    const child = spawn(process.execPath, [evsysBin, 'schema', 'experiment'], { env: cleanEnv() })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('delivers a long document whole (CLI-2)', async () => {
    const { stdout } = await runProcess(['schema', 'experiment', '--json'])
    expect(stdout.length).toBeGreaterThan(10_000)
    expect(() => JSON.parse(stdout)).not.toThrow()
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends with 130 on %s and says what it closes (CLI-3)', async (signal) => {
    const child = spawn(process.execPath, [evsysBin, 'validate', '-'], { env: cleanEnv() })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    // More than a pipe holds: when all of it is written, the command is reading.
    await new Promise<void>((resolve) => child.stdin.write(' '.repeat(4_000_000), () => resolve()))
    child.kill(signal)
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'interrupted: closing standard input; a second signal ends it at once\n',
    })
  })
})
