import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { RunEvent } from './events.ts'
import { initialRunState, type RunState, reduceRun } from './reduce-run.ts'

const fold = (events: readonly RunEvent[], from: RunState = initialRunState): RunState => events.reduce(reduceRun, from)
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T // compared with what went in

/** Events of one run, numbered without gaps; otherwise in any order and of any content. */
const stream: fc.Arbitrary<RunEvent[]> = fc
  .array(arbitraryOf(RunEvent), { maxLength: 20 })
  .map((events) => numbered(events.map((event) => RunEvent.parse(event))))

function numbered(events: readonly RunEvent[]): RunEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, run_id: 'r' }))
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const field of Object.values(value)) deepFreeze(field)
  }
  return value
}

type Body = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'seq' | 'at' | 'run_id'> : never) : never

/** A stream from the parts that matter in a test. */
function events(...bodies: Body[]): RunEvent[] {
  return bodies.map((body, index) => RunEvent.parse({ seq: index + 1, at: second(index), run_id: 'r', ...body }))
}

const second = (index: number): string => new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()

const started = (attempt: number, resumed_from_step?: number): Body => ({
  type: 'run.started',
  config_hash: 'c',
  attempt,
  num_steps: 10,
  ...(resumed_from_step === undefined ? {} : { resumed_from_step }),
})
const evaluated = (step: number | undefined, score: number): Body => ({
  type: 'eval.finished',
  benchmark: 'val',
  split: 'val',
  ...(step === undefined ? {} : { step }),
  metrics: { 'pass@1': score },
  n_tasks: 4,
  n_infra_failed: 0,
  scorer_hash: 's',
})
const saved = (step: number, final = false): Body => ({
  type: 'checkpoint.saved',
  step,
  kind: 'state',
  ref: `weights/${step}`,
  final,
})

describe('reduceRun as a fold', () => {
  it('changes neither state nor event (CON-4)', () => {
    fc.assert(
      fc.property(stream, (all) => {
        const state = deepFreeze(structuredClone(initialRunState))
        all.reduce((before, event) => deepFreeze(reduceRun(before, deepFreeze(event))), state)
      }),
    )
  })

  it('shows on replay what was live (CON-4)', () => {
    fc.assert(
      fc.property(stream, (all) => {
        expect(fold(all.map((event) => RunEvent.parse(throughJson(event))))).toEqual(fold(all))
      }),
    )
  })

  it('goes on from a state that went through JSON (CON-4)', () => {
    fc.assert(
      fc.property(stream, fc.nat(20), (all, cut) => {
        const half = fold(all.slice(0, cut))
        expect(throughJson(half)).toEqual(half)
        expect(fold(all.slice(cut), throughJson(half))).toEqual(fold(all))
      }),
    )
  })

  it('ends in the same state for any order of arrival and any repetition (CON-4)', () => {
    const arrival = stream.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc
          .subarray(all)
          .chain((again) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length })),
      ),
    )
    fc.assert(
      fc.property(arrival, ([all, arrived]) => {
        expect(fold(arrived)).toEqual(fold(all))
      }),
    )
  })

  it('is ahead by nothing but the events before the first gap (CON-4)', () => {
    fc.assert(
      fc.property(
        stream.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all))),
        ([all, arrived]) => {
          const here = new Set(arrived.map((event) => event.seq))
          const gap = all.findIndex((event) => !here.has(event.seq))
          const prefix = gap === -1 ? all : all.slice(0, gap)
          const waiting = gap === -1 ? [] : all.slice(gap).filter((event) => here.has(event.seq))
          expect(fold(arrived)).toEqual({ ...fold(prefix), pending: waiting })
        },
      ),
    )
  })

  it('returns the very state for an event that it has seen (CON-4)', () => {
    fc.assert(
      fc.property(stream, (all) => {
        const state = fold(all)
        for (const event of all) expect(reduceRun(state, event)).toBe(state)
      }),
    )
  })

  it('returns the very state for an event that already waits (CON-4)', () => {
    const [, second] = events({ type: 'notice', text: 'a' }, { type: 'notice', text: 'b' })
    if (second === undefined) throw new Error('two events were made')
    const state = fold([second])
    expect(state).toMatchObject({ seq: 0, notices: [], pending: [second] })
    expect(reduceRun(state, { ...second })).toBe(state)
  })

  it('keeps the last 200 lines of the log (CON-4)', () => {
    const lines = Array.from({ length: 450 }, (_, index) => `line ${index}`)
    const state = fold(events(...lines.map((text): Body => ({ type: 'log', level: 'info', text }))))
    expect(state.log.map(({ text }) => text)).toEqual(lines.slice(-200))
  })
})

describe('reduceRun over attempts', () => {
  // An uninterrupted run of ten steps: evaluated after every second, saved after every third.
  const step = (n: number): Body[] => [
    { type: 'step.finished', step: n, metrics: { loss: 1 / (n + 1), [`only/${n % 4}`]: n } },
    ...(n % 2 === 1 ? [evaluated(n, n / 10)] : []),
    ...(n % 3 === 2 ? [saved(n)] : []),
  ]
  const steps = (from: number, to: number): Body[] =>
    Array.from({ length: to - from }, (_, index) => step(from + index)).flat()
  const ending: Body[] = [
    saved(9, true),
    evaluated(undefined, 0.9),
    { type: 'run.finished', status: 'completed', metrics: { 'pass@1': 0.9 }, best_step: 9 },
  ]

  /** What the view says of the result: no times, attempts or counts of work. */
  const outcome = ({ seq: _seq, attempt: _attempt, started_at: _s, finished_at: _f, ...rest }: RunState) => rest

  it('shows after a crash and a resume what an uninterrupted run shows (CON-4)', () => {
    const whole = outcome(fold(events(started(1), ...steps(0, 10), ...ending)))
    const cut = fc.nat(10).chain((crashed) => fc.tuple(fc.constant(crashed), fc.nat(crashed)))
    fc.assert(
      fc.property(cut, ([crashed, kept]) => {
        // `kept` steps survive in a checkpoint; none does when it is 0, and the run starts over.
        const again = kept === 0 ? started(2) : started(2, kept - 1)
        const resumed = fold(events(started(1), ...steps(0, crashed), again, ...steps(kept, 10), ...ending))
        expect(outcome(resumed)).toEqual(whole)
      }),
    )
  })

  it('takes back, as attempt 2 starts, what comes after the step it resumes from (CON-4)', () => {
    const before = events(started(1), ...steps(0, 9))
    const state = fold(events(started(1), ...steps(0, 9), started(2, 5)))
    expect(fold(before)).toMatchObject({ step: 8, attempt: 1 })
    expect(state).toMatchObject({ step: 5, attempt: 2, status: 'running', started_at: second(0) })
    expect(state.evals.map((each) => each.step)).toEqual([1, 3, 5])
    expect(state.checkpoints.map((each) => each.step)).toEqual([2, 5])
  })

  it('shows nothing of attempt 1 when attempt 2 starts over (CON-4)', () => {
    const state = fold(events(started(1), ...steps(0, 9), evaluated(undefined, 0.9), started(2)))
    expect(state).toMatchObject({ attempt: 2, step: undefined, metrics: {}, evals: [], checkpoints: [] })
  })

  it('keeps the scores made after training when only they were interrupted (CON-4)', () => {
    const state = fold(events(started(1), ...steps(0, 10), saved(9, true), evaluated(undefined, 0.9), started(2, 9)))
    expect(state.evals.at(-1)).toMatchObject({ step: undefined, metrics: { 'pass@1': 0.9 } })
  })

  it('forgets the failure of attempt 1 when attempt 2 starts (CON-4)', () => {
    const error = { code: 'BACKEND_FAILED', message: 'trainer died' } as const
    const failed = events(started(1), { type: 'eval.started', benchmark: 'val', split: 'val' }, ...steps(0, 3), {
      type: 'run.finished',
      status: 'failed',
      error,
      metrics: {},
      cost_usd: 1,
      tokens: 2,
      wall_s: 3,
    })
    expect(fold(failed)).toMatchObject({ status: 'failed', error, cost_usd: 1, running_evals: 0 })
    const [start] = events(started(2, 2))
    if (start === undefined) throw new Error('one event was made')
    const state = throughJson(reduceRun(fold(failed), { ...start, seq: failed.length + 1 }))
    expect(state).toMatchObject({ status: 'running', attempt: 2, step: 2 })
    for (const gone of ['error', 'finished_at', 'cost_usd', 'tokens', 'wall_s']) expect(state).not.toHaveProperty(gone)
  })

  it('rolls back to the step that a guard names (CON-4)', () => {
    const guard: Body = { type: 'guard.tripped', step: 6, reason: 'spike', rolled_back_to: 2, learning_rate: 1e-5 }
    const state = fold(events(started(1), ...steps(0, 6), guard))
    expect(state).toMatchObject({ guards: 1, step: 2 })
    expect(state.evals.map((each) => each.step)).toEqual([1])
    expect(state.checkpoints.map((each) => each.step)).toEqual([2])
  })

  it('stays at its step when a guard only skips an update (CON-4)', () => {
    const state = fold(events(started(1), ...steps(0, 6), { type: 'guard.tripped', step: 6, reason: 'nan' }))
    expect(state).toMatchObject({ guards: 1, step: 5 })
    expect(state.evals).toHaveLength(3)
  })
})

describe('reduceRun over one attempt', () => {
  it('follows a run from start to end (CON-4)', () => {
    const state = fold(
      events(
        started(1),
        { type: 'data.loaded', n_rows: 12, data_hash: 'd' },
        { type: 'step.finished', step: 0, metrics: { loss: 2, lr: 1 } },
        { type: 'step.finished', step: 1, metrics: { loss: 1 } },
        { type: 'eval.started', benchmark: 'val', split: 'val', step: 1 },
        evaluated(1, 0.5),
        { type: 'notice', text: 'a test look was metered' },
        { type: 'log', level: 'warn', text: 'slow' },
        { type: 'run.finished', status: 'completed', metrics: { 'pass@1': 0.5 }, cost_usd: 0.1, tokens: 9, wall_s: 2 },
      ),
    )
    expect(throughJson(state)).toEqual({
      run_id: 'r',
      status: 'completed',
      seq: 9,
      attempt: 1,
      step: 1,
      num_steps: 10,
      n_rows: 12,
      metrics: { loss: 1, lr: 1, 'pass@1': 0.5 },
      evals: [{ benchmark: 'val', split: 'val', step: 1, metrics: { 'pass@1': 0.5 }, n_tasks: 4, n_infra_failed: 0 }],
      running_evals: 0,
      checkpoints: [],
      n_rollouts: 0,
      n_failed_rollouts: 0,
      n_infra_failed_rollouts: 0,
      guards: 0,
      notices: ['a test look was metered'],
      log: [{ level: 'warn', text: 'slow' }],
      started_at: second(0),
      finished_at: second(8),
      cost_usd: 0.1,
      tokens: 9,
      wall_s: 2,
      pending: [],
    })
  })

  it('counts failures of rollouts, and those of infrastructure apart (CON-4)', () => {
    const rollout = { type: 'rollout.finished', task_id: 't', sample: 0 } as const
    const error = { code: 'BACKEND_FAILED', message: 'gone' } as const
    const state = fold(
      events(
        { ...rollout, reward: 1 },
        { ...rollout, error: { ...error, infra: false } },
        { ...rollout, error: { ...error, infra: true } },
      ),
    )
    expect(state).toMatchObject({ n_rollouts: 3, n_failed_rollouts: 2, n_infra_failed_rollouts: 1 })
  })

  it('shows an evaluation that is made again in place of the old one (CON-4)', () => {
    const state = fold(events(evaluated(1, 0.5), evaluated(3, 0.6), evaluated(1, 0.7)))
    expect(state.evals.map((each) => [each.step, each.metrics['pass@1']])).toEqual([
      [3, 0.6],
      [1, 0.7],
    ])
  })
})
