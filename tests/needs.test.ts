import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'

const root = fileURLToPath(new URL('..', import.meta.url))
let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-needs-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const Report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({ title: z.string(), fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
})

/** Runs a real test file that uses `needs`, and returns what vitest says of each test. */
function runSuite(env: { CI?: string | undefined }) {
  const needs = JSON.stringify(join(root, 'tests/needs.ts'))
  writeFileSync(
    join(dir, 'suite.test.ts'),
    `import { needs } from ${needs}
     const gone = needs('a flux capacitor', () => 'no 1.21 gigawatts here')
     const broken = needs('a probe', () => { throw new Error('probe fell over') })
     const there = needs('a computer', () => true)
     gone.it('travels in time', () => {})
     gone.describe('the future', () => { gone.it('is bright', () => {}) })
     broken.it('measures', () => {})
     there.it('computes', () => {})
     there.describe('a group', () => { there.it('runs', () => {}) })`,
  )
  const { CI: _, VITEST: __, ...rest } = process.env
  const report = join(dir, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--root', dir, '--reporter=json', `--outputFile=${report}`]
  const { status } = spawnSync(process.execPath, args, { cwd: dir, env: { ...rest, ...env }, stdio: 'ignore' })
  const { testResults } = Report.parse(JSON.parse(readFileSync(report, 'utf8')))
  return { status, tests: testResults.flatMap((file) => file.assertionResults) }
}

describe('a test that needs a missing component', () => {
  it('is a skip elsewhere, with component and reason in its name (REPO-6)', () => {
    const { status, tests } = runSuite({})
    expect(status).toBe(0)
    expect(tests.map(({ fullName, status }) => `${status}: ${fullName}`)).toEqual([
      'skipped: travels in time [needs a flux capacitor: no 1.21 gigawatts here]',
      expect.stringMatching(/^skipped: the future \[needs a flux capacitor: no 1\.21 gigawatts here\] is bright/),
      'skipped: measures [needs a probe: probe fell over]',
      'passed: computes',
      'passed: a group runs',
    ])
  })

  it('fails in CI, with component and reason in its message (REPO-6)', () => {
    const { status, tests } = runSuite({ CI: 'true' })
    expect(status).toBe(1)
    expect(tests.map(({ fullName, status }) => `${status}: ${fullName}`)).toEqual([
      'failed: travels in time',
      'failed: the future needs a flux capacitor: no 1.21 gigawatts here',
      'failed: measures',
      'passed: computes',
      'passed: a group runs',
    ])
    const messages = tests.flatMap((test) => test.failureMessages).map((message) => message.split('\n')[0])
    expect(messages).toEqual([
      'Error: needs a flux capacitor: no 1.21 gigawatts here. CI must have it.',
      'Error: needs a flux capacitor: no 1.21 gigawatts here. CI must have it.',
      'Error: needs a probe: probe fell over. CI must have it.',
    ])
  })
})
