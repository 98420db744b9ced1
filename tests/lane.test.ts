import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from './run-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// Inside the repository, where vitest is found; the folder is ignored by git.
mkdirSync(join(root, '.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, '.tmp', 'lane-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const skips = `import { it } from 'vitest'
it('always runs', () => {})
it('needs a shell', ({ skip }) => skip('zsh is not installed'))`

/** Runs a project with these tests in a lane. */
async function runLane(env: NodeJS.ProcessEnv, tests = skips) {
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { defineConfig } from 'vitest/config'
import { lane, skipReporter } from '../../tests/lane.ts'
const reporters = [skipReporter(Boolean(process.env.CI))]
export default defineConfig({ test: { include: ['*.test.ts'], retry: lane('some').retry, reporters } })`,
  )
  writeFileSync(join(folder, 'some.test.ts'), tests)
  const { CI, VITEST, VITEST_MODE, ...inherited } = process.env
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  return await runCommand(process.execPath, [vitest, 'run'], { cwd: folder, env: { ...inherited, ...env } })
}

describe('a skipped test', () => {
  it('is named with its reason on a user’s machine (REPO-6)', async () => {
    const { status, stdout } = await runLane({})
    expect(stdout).toContain('Skipped on this machine:\n  some.test.ts > needs a shell: zsh is not installed')
    expect(status).toBe(0)
  })

  it('fails in CI, named with its reason (REPO-6)', async () => {
    const { status, stdout } = await runLane({ CI: 'true' })
    expect(stdout).toContain('which CI does not allow:\n  some.test.ts > needs a shell: zsh is not installed')
    expect(status).toBe(1)
  })
})

it('a test that would pass at a second try fails in CI (REPO-9)', async () => {
  const moody = `import { expect, it } from 'vitest'
let tries = 0
it('is moody', () => expect(++tries).toBe(2))
it('is sound', () => {})`
  expect((await runLane({ CI: 'true' }, moody)).status).toBe(1)
})
