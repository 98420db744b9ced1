import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { ErrorReport } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

/** Runs a command in a project with a plugin that never ends, and interrupts it when the plugin is being loaded. */
async function interrupted(args: readonly string[]) {
  const cwd = folder()
  await runMain(['init'], { cwd })
  // What it is shut in may write that folder alone.
  const written = join(cwd, '.evsys', 'cache', 'jiti')
  mkdirSync(written, { recursive: true })
  const mark = join(written, 'loading')
  const text = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\nwhile (true) {}\n`
  writeFileSync(join(cwd, 'src/plugins/endless.ts'), text)
  const controller = new AbortController()
  const running = runMain(args, { cwd, signal: controller.signal })
  await vi.waitFor(() => expect(existsSync(mark)).toBe(true), { timeout: 60_000, interval: 20 })
  controller.abort()
  return await running
}

describe('an interruption', () => {
  it.each([
    [['list']],
    [['schema', 'verifier', 'intent_match']],
    [['validate', 'experiments/quickstart/config.yaml', '--deep']],
  ])('while plugins load ends %j with 130 and says what is closed (CLI-3)', async (args) => {
    expect(await interrupted(args)).toEqual({
      code: 130,
      stdout: '',
      stderr: 'interrupted: closing the plugin loader; a second signal ends it at once\n',
    })
  })

  it('is one document under --json (CLI-2, CLI-3)', async () => {
    const { code, stdout, stderr } = await interrupted(['list', '--json'])
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'interrupted: closing the plugin loader; a second signal ends it at once\n',
    })
    expect(ErrorReport.parse(JSON.parse(stdout)).errors).toMatchObject([{ code: 'INTERRUPTED' }])
  })

  it('before anything began ends with 130 (CLI-3)', async () => {
    const { code, stdout } = await runMain(['validate', '-'], { signal: AbortSignal.abort() })
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
  })
})
