import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyRun, patternOfSkipped, skippedIn, withoutRepeated } from '../scripts/skipped-tests.mjs'
import { conclude, failuresIn, sumReport } from '../scripts/sum-reports.mjs'

const tests = (...statuses: string[]) => statuses.map((status) => ({ status }))

describe('sumReport', () => {
  it('counts passed, failed and skipped tests (REPO-6)', () => {
    const report = {
      testResults: [
        { name: 'a', status: 'passed', assertionResults: tests('passed', 'passed', 'pending') },
        { name: 'b', status: 'failed', assertionResults: tests('passed', 'failed', 'todo') },
      ],
    }
    expect(sumReport('unit', report)).toEqual({ name: 'unit', passed: 3, failed: 1, skipped: 2 })
  })

  it('counts a file that fails before its tests are known (REPO-6)', () => {
    const report = { testResults: [{ name: 'a', status: 'failed', assertionResults: [] }] }
    expect(sumReport('unit', report)).toEqual({ name: 'unit', passed: 0, failed: 1, skipped: 0 })
  })
})

describe('failuresIn', () => {
  it('names each failed test and each broken file with its fault (REPO-9)', () => {
    const path = (file: string) => resolve(file)
    const failed = {
      status: 'failed',
      ancestorTitles: ['a group'],
      title: 'adds',
      failureMessages: ['Error: 3\n  at a'],
    }
    const report = {
      testResults: [
        { name: path('src/a.test.ts'), status: 'failed', assertionResults: [...tests('passed', 'skipped'), failed] },
        {
          name: path('src/b.test.ts'),
          status: 'failed',
          message: 'no such module',
          assertionResults: tests('skipped'),
        },
        { name: path('src/c.test.ts'), status: 'passed', assertionResults: tests('passed') },
      ],
    }
    expect(failuresIn(report)).toEqual([
      'src/a.test.ts > a group > adds: Error: 3 at a',
      'src/b.test.ts: no such module',
    ])
  })
})

describe('skipped tests', () => {
  const test = (status: string, title: string, ...ancestorTitles: string[]) => ({ status, title, ancestorTitles })
  const file = (name: string, ...assertionResults: ReturnType<typeof test>[]) => ({
    name,
    status: 'passed',
    assertionResults,
  })
  const missing = '[needs cc: not on the PATH]'
  const unit = {
    testResults: [
      file('whole', test('passed', 'is fast')),
      file('part', test('passed', 'adds', 'kernels'), test('skipped', `adds (all) ${missing}`, 'kernels')),
      file(
        'group',
        test('skipped', 'adds', `native ${missing}`, 'gemm'),
        test('skipped', 'halves', `native ${missing}`),
      ),
    ],
  }
  const again = {
    testResults: [
      file('part', test('skipped', 'adds', 'kernels'), test('passed', 'adds (all)', 'kernels')),
      file('group', test('passed', 'adds', 'native', 'gemm'), test('skipped', 'halves', 'native')),
    ],
  }

  it('are run again, and no others (REPO-6)', () => {
    const pattern = new RegExp(patternOfSkipped(unit))
    const names = [
      'kernels adds (all)',
      'native gemm adds',
      'native halves',
      'kernels adds',
      'kernels adds (all) again',
    ]
    expect(names.filter((name) => pattern.test(name))).toEqual(names.slice(0, 3))
  })

  it('count where they ran again, and in the first run as long as they did not (REPO-6)', () => {
    expect(sumReport('unit', withoutRepeated(unit, undefined))).toMatchObject({ passed: 2, skipped: 3 })
    expect(sumReport('unit', withoutRepeated(unit, again))).toMatchObject({ passed: 2, skipped: 1 })
    expect(sumReport('skipped', onlyRun(again))).toEqual({ name: 'skipped', passed: 2, failed: 0, skipped: 0 })
  })

  it('are named while they did not run (REPO-6)', () => {
    expect(skippedIn(withoutRepeated(unit, again))).toEqual([{ file: 'group', name: 'native halves' }])
  })
})

describe('conclude', () => {
  const lane = { name: 'unit', passed: 3, failed: 0, skipped: 0 }
  const last = (lanes: (typeof lane)[], stages: string[]) => {
    const { lines, ok } = conclude(lanes, stages)
    return [lines.at(-1), ok]
  }

  it('ends with the sums of all lanes (REPO-6)', () => {
    expect(last([lane, { ...lane, passed: 4 }], [])).toEqual(['7 passed, 0 failed', true])
    expect(last([lane, { ...lane, failed: 2 }], ['unit tests'])).toEqual(['6 passed, 2 failed', false])
  })

  it('counts a skipped test as failed (REPO-6)', () => {
    expect(last([{ ...lane, skipped: 1 }], [])).toEqual(['3 passed, 1 failed', false])
  })

  it('counts a failed stage that no test explains (REPO-6)', () => {
    expect(last([lane], ['unit tests'])).toEqual(['3 passed, 1 failed', false])
  })

  it('is not content with no tests at all (REPO-6)', () => {
    expect(last([], [])).toEqual(['0 passed, 0 failed', false])
  })
})
