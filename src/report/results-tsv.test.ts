import { describe, expect, it } from 'vitest'
import { generatedSession } from '../../tests/generated-session.ts'
import { readResultsLog } from '../record/log/read-results-log.ts'
import { placeAttempts } from './figures/placed-attempt.ts'
import { logAttempts } from './input/log-input.ts'
import type { ResearchReportInput } from './input/report-input.ts'
import { resultsTsv } from './results-tsv.ts'

describe('the table of a session', () => {
  it('reads back as a log with equal scores, statuses and words (RES-706)', () => {
    const session = generatedSession(40)
    const log = readResultsLog(resultsTsv(session), { file: 'results.tsv' })
    const placed = placeAttempts(session.attempts)
    expect(log.metric).toBe('val_bpb')
    expect(log.rows.map(({ name }) => name)).toEqual(placed.map(({ attempt }) => attempt.id))
    expect(log.rows.map(({ values }) => values.val_bpb)).toEqual(placed.map(({ score }) => score))
    expect(log.rows.map(({ description }) => description)).toEqual(placed.map(({ attempt }) => attempt.title))
    expect(log.rows.map(({ status }) => status)).toEqual(
      placed.map(({ outcome, score }) => {
        if (score === undefined) return 'crash'
        return outcome === 'baseline' || outcome === 'provisional' || outcome === 'confirmed' ? 'keep' : 'discard'
      }),
    )
  })

  it('leaves the score of a crash empty, never 0 (RES-706)', () => {
    const session = generatedSession(40)
    const [head = '', ...lines] = resultsTsv(session).trimEnd().split('\n')
    expect(head.split('\t').slice(0, 5)).toEqual(['commit', 'val_bpb', 'memory_gb', 'status', 'description'])
    const crashes = lines.map((line) => line.split('\t')).filter((cells) => cells[3] === 'crash')
    expect(crashes.length).toBeGreaterThan(0)
    for (const cells of crashes) expect(cells[1]).toBe('')
  })

  it('writes a log that was read, with its own columns, so that it reads the same (RES-706)', () => {
    const text =
      'commit\tval_bpb\tmemory_gb\tstatus\tdescription\na1\t0.9979\t44\tkeep\tbaseline\nb2\t0.986\t43.9\tkeep\thalve batch\nc3\t0\t0\tcrash\tboom\n'
    const { rows, metric } = readResultsLog(text, { file: 'a.tsv' })
    const logged = rows.map((row) => ({ ...row, score: row.values[metric], extra: row.values }))
    const attempts = logAttempts(logged, { direction: 'min' })
    const input: ResearchReportInput = {
      task: { name: 'log', metric, direction: 'min' },
      session: { id: 'exp_log' },
      attempts,
    }
    const again = readResultsLog(resultsTsv(input), { file: 'b.tsv' })
    expect(again.rows.map(({ status, description }) => ({ status, description }))).toEqual(
      rows.map(({ status, description }) => ({ status, description })),
    )
    expect(again.rows.map(({ values: { val_bpb, memory_gb } }) => [val_bpb, memory_gb])).toEqual([
      [0.9979, 44],
      [0.986, 43.9],
      [undefined, 0],
    ])
  })

  it('a tab or a line break in a title is a space (RES-702)', () => {
    const lines = resultsTsv(generatedSession(3, { title: () => 'a\tb\r\nc\u2028d' }))
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(5)
    expect(new Set(lines.map((line) => line.split('\t').length)).size).toBe(1)
    expect(lines[2]).toContain('a b c d')
  })
})
