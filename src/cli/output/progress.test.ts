import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../contracts/index.ts'
import { textWidth } from '../../kernel/index.ts'
import { plainColors } from './colors.ts'
import { beginProgress, followProgress, type ProgressState, progressLines } from './progress.ts'

type Rows = Parameters<typeof beginProgress>[1]
type Plan = Parameters<typeof beginProgress>[0]

const startedMs = Date.parse('2026-01-31T12:00:00Z')

function progressOf(names: readonly string[], status = 'pending'): ProgressState {
  const plan = {
    experiment: { name: 'rates' },
    objective: { benchmark: 'val', metric: 'pass@1', direction: 'max' },
    arms: [{ name: 'arm', params: {}, seeds: [1], max_steps: 40 }],
  } as unknown as Plan // what progress reads of a plan
  const rows = names.map((name, i) => ({ id: `run_${i}`, name, arm: 'arm', status }))
  return beginProgress(plan, rows as unknown as Rows) // and of a run
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

function tell(progress: ProgressState, run: number, seconds: number, seq: number, body: Body<RunEvent>): void {
  const at = new Date(startedMs + seconds * 1000).toISOString()
  followProgress(progress, { id: `run_${run}` }, { ...body, seq, at, run_id: `run_${run}` } as RunEvent) // what Body leaves out
}

const started = (from?: number): Body<RunEvent> => ({
  type: 'run.started',
  config_hash: 'x',
  attempt: 1,
  num_steps: 40,
  ...(from === undefined ? {} : { resumed_from_step: from }),
})
const stepped = (step: number, loss: number): Body<RunEvent> => ({
  type: 'step.finished',
  step,
  metrics: { train_mean_nll: loss },
})

const options = {
  columns: 100,
  rows: 24,
  nowMs: startedMs + 20_000,
  startedMs,
  colors: plainColors,
  blocks: false,
  stopping: false,
}

describe('progress lines', () => {
  it('tell bar, steps, loss, last score and time left of every active run, and of the whole (CLI-9)', () => {
    const progress = progressOf(['rates__a', 'rates__bb', 'rates__c'])
    tell(progress, 0, 0, 1, started())
    tell(progress, 0, 10, 2, stepped(9, 1.2345678))
    tell(progress, 0, 10, 3, {
      type: 'eval.finished',
      benchmark: 'val',
      split: 'val',
      step: 9,
      metrics: { mean: 0.2, 'pass@1': 0.35 },
      n_tasks: 10,
      n_infra_failed: 0,
      scorer_hash: 'x',
    })
    tell(progress, 0, 20, 4, stepped(19, 0.5))
    tell(progress, 1, 20, 1, started())
    expect(progressLines(progress, options)).toEqual([
      'a   ########--------  20/40  loss 0.5  val.pass@1 0.35  20 s left',
      'bb  ----------------  0/40',
      '0 of 3 runs done, 20 s, about 1 min 40 s left',
    ])
  })

  it('counts a failed run, and says when it scores (CLI-9)', () => {
    const progress = progressOf(['a', 'b'])
    tell(progress, 0, 0, 1, started())
    const error = { code: 'WORKER_DIED' as const, message: 'gone' }
    tell(progress, 0, 1, 2, { type: 'run.finished', status: 'failed', metrics: {}, error })
    tell(progress, 1, 1, 1, started())
    tell(progress, 1, 3, 2, stepped(39, 0.1))
    tell(progress, 1, 4, 3, { type: 'eval.started', benchmark: 'test', split: 'test' })
    expect(progressLines(progress, options)).toEqual([
      'b  ################  40/40  loss 0.1  scoring',
      '1 of 2 runs done, 1 failed, 20 s, about 0 s left',
    ])
  })

  it('a resumed run goes on where it was, by the pace since then (CLI-9, CLI-11)', () => {
    const progress = progressOf(['a'])
    tell(progress, 0, 0, 17, started(29))
    tell(progress, 0, 5, 18, stepped(34, 0.1))
    const [line] = progressLines(progress, { ...options, nowMs: startedMs + 5000 })
    expect(line).toBe('a  ##############--  35/40  loss 0.1  5 s left')
  })

  it('runs that were done before are done (CLI-9)', () => {
    expect(progressLines(progressOf(['a', 'b'], 'completed'), options)).toEqual(['2 of 2 runs done, 20 s'])
  })

  it('says that a second Ctrl-C ends at once (CLI-11)', () => {
    const progress = progressOf(['a'])
    tell(progress, 0, 0, 1, started())
    tell(progress, 0, 1, 2, stepped(0, 0.1))
    expect(progressLines(progress, { ...options, stopping: true })).toEqual([
      expect.stringMatching(/saving$/),
      '0 of 1 run done, 20 s, runs save and leave; Ctrl-C again ends at once',
    ])
  })

  it('never is wider or higher than the terminal, whatever runs are called (CLI-9)', async () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 60 })
    const sizes = fc.record({ columns: fc.integer({ min: 20, max: 200 }), rows: fc.integer({ min: 5, max: 60 }) })
    await fc.assert(
      fc.property(fc.array(name, { maxLength: 80 }), sizes, (names, size) => {
        const progress = progressOf(names)
        for (const i of names.keys()) {
          tell(progress, i, 0, 1, started())
          tell(progress, i, 3, 2, stepped(i % 40, i * 1e5))
        }
        const lines = progressLines(progress, { ...options, ...size })
        expect(lines.length).toBeLessThan(size.rows)
        for (const line of lines) {
          expect(textWidth(line)).toBeLessThan(size.columns)
          expect(line).not.toMatch(/\p{Cc}/u)
        }
      }),
    )
  })

  it('counts the runs that do not fit (CLI-9)', () => {
    const progress = progressOf(Array.from({ length: 50 }, (_, i) => `run-${i}`))
    for (let i = 0; i < 50; i++) tell(progress, i, 0, 1, started())
    const lines = progressLines(progress, { ...options, rows: 10 })
    expect(lines).toHaveLength(9)
    expect(lines[7]).toBe('... and 43 more runs')
  })
})
