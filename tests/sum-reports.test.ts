import { describe, expect, it } from 'vitest'
import { conclude, filesWithSkipsIn, sumReport, withoutRepeated } from '../scripts/sum-reports.mjs'

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

describe('files that skipped something', () => {
  const file = (name: string, ...statuses: string[]) => ({
    name,
    status: 'passed',
    assertionResults: tests(...statuses),
  })
  const unit = { testResults: [file('whole', 'passed'), file('part', 'passed', 'skipped'), file('todo', 'todo')] }

  it('are run again (REPO-6)', () => {
    expect(filesWithSkipsIn(unit)).toEqual(['part', 'todo'])
  })

  it('count where they ran again, and in the first run as long as they did not (REPO-6)', () => {
    const again = { testResults: [file('part', 'passed', 'passed')] }
    expect(sumReport('unit', withoutRepeated(unit, again))).toMatchObject({ passed: 1, skipped: 1 })
    expect(sumReport('unit', withoutRepeated(unit, undefined))).toMatchObject({ passed: 2, skipped: 2 })
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
