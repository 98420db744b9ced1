import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
import { secondTryReporter, skipReporter } from '../../tests/lane.ts'
const reporters = [skipReporter(Boolean(process.env.CI)), secondTryReporter('second-tries.txt')]
export default defineConfig({ test: { include: ['*.test.ts'], retry: 1, reporters } })`,
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

describe('a test that passes at its second try only', () => {
  const flaky = (n: number) => `import { expect, it } from 'vitest'
for (let i = 0; i < ${n}; i++) {
  let tries = 0
  it(\`is moody \${i}\`, () => expect(++tries).toBe(2))
}
it('is sound', () => {})`

  it('is named, in the log and for the end of CI (REPO-9)', async () => {
    const { status, stdout } = await runLane({ CI: 'true' }, flaky(1))
    expect(stdout).toContain('Passed at the second try only:\n  some.test.ts > is moody 0: expected 1 to be 2')
    expect(readFileSync(join(folder, 'second-tries.txt'), 'utf8')).toMatch(
      /^some\.test\.ts > is moody 0: expected 1 to be 2.*\n$/,
    )
    expect(status).toBe(0)
  })

  it('fails the lane where there are more than two (REPO-9)', async () => {
    const { status, stdout } = await runLane({ CI: 'true' }, flaky(3))
    expect(stdout).toContain('is moody 2')
    expect(status).toBe(1)
  })
})
