import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

describe('evsys serve', { timeout: 240_000 }, () => {
  it('says where it listens, serves until it is interrupted, and keeps its checkpoints in the project (TRN-1)', async () => {
    const cwd = folder()
    const interruption = new AbortController()
    let printed = ''
    const { promise, resolve } = withResolvers<string>()
    const ended = main(['serve', '--engine', 'mock', '--model', 'some/model', '--port', '0'], {
      stdout: {
        write(text) {
          printed += text
          resolve(text)
        },
      },
      stderr: { write: () => {} },
      stdin: (async function* () {})(),
      cwd,
      env: {},
      signal: interruption.signal,
    })
    const said = await Promise.race([promise, ended.then((code) => `ended with ${code}`)])
    expect(said).toMatch(/serving some\/model on http:\/\/127\.0\.0\.1:\d+ \(engine mock\)/)
    const url = /http:\S+/.exec(said)?.[0]
    const health = await fetch(`${url}/api/v1/healthz`)
    expect(await health.json()).toEqual({ status: 'ok' })
    interruption.abort()
    expect(await ended).toBe(130)
    expect(printed).toBe(said)
    await expect(fetch(`${url}/api/v1/healthz`)).rejects.toThrow()
    expect(existsSync(join(cwd, '.evsys/trainer/runs'))).toBe(true)
  })

  it('refuses to let everybody in, and names that lead nowhere (TRN-1)', async () => {
    const open = await runMain(['serve', '--host', '0.0.0.0', '--engine', 'mock', '--port', '0'], { cwd: folder() })
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('EVSYS_SERVE_KEYS')])
    const missing = await runMain(['serve', '--model', './nothing', '--port', '0'], { cwd: folder() })
    expect(missing.stderr).toContain('MODEL_MISSING')
    expect(missing.code).toBeGreaterThan(0)
    expect((await runMain(['serve', '--port', '70000'])).code).toBe(2)
  })
})

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
