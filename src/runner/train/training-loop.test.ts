import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { trainHere } from '../../../tests/train-here.ts'
import { pastLosses } from '../../algorithms/guards/collapse-guard.ts'
import { sft, sharedParams } from '../../algorithms/index.ts'
import { defineAlgorithm, defineCallback } from '../../kernel/index.ts'

const folder = temporaryFolders()

/** Trains like sft; tells of a loss of its own at some steps, the first `times` times that it comes by. */
const stumbling = (loss: number, steps: readonly number[], times: number) => {
  let left = times
  return defineAlgorithm({
    kind: 'stumbling',
    summary: 'Stumbles.',
    params: sft.params,
    buildBatch: (context) => sft.buildBatch(context),
    stepMetrics({ step }) {
      const stumbles = steps.includes(step) && left > 0
      if (stumbles) left -= 1
      return { train_mean_nll: stumbles ? loss : 1 }
    },
  })
}
const assignmentOf = (kind: string, params: object = {}, changes: object = {}) =>
  runAssignment(folder(), {
    ...changes,
    config: {
      algorithm: { kind, params: { max_steps: 10, batch_size: 1, save_every: 2, learning_rate: 0.01, ...params } },
    },
  })

describe('a collapse', () => {
  it('rolls back to the last checkpoint, halves the rate and goes on (LAB-42)', async () => {
    const rows: number[] = []
    const watching = defineCallback({
      kind: 'watching',
      summary: 'Watches.',
      params: z.strictObject({}),
      open: async () => ({ onTrainStart: ({ step }) => void rows.push(step) }),
    })
    const assignment = assignmentOf('stumbling', {}, { callbacks: [{ kind: 'watching', params: {} }] })
    const run = await trainHere(assignment, { plugins: [stumbling(Number.NaN, [5], 1), watching] })
    expect(run.of('guard.tripped')).toMatchObject([{ step: 5, reason: 'nan', rolled_back_to: 3, learning_rate: 0.005 }])
    const steps = run.of('step.finished').map(({ step, metrics }) => [step, metrics['optim/lr']])
    expect(steps).toEqual([
      ...[0, 1, 2, 3, 4].map((step) => [step, 0.01]),
      ...[4, 5, 6, 7, 8, 9].map((step) => [step, 0.005]),
    ])
    expect(rows).toEqual([0, 4])
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
  })

  it('goes back to the start where nothing was saved (LAB-42)', async () => {
    const run = await trainHere(assignmentOf('stumbling', { save_every: 8 }), {
      plugins: [stumbling(Number.POSITIVE_INFINITY, [1], 1)],
    })
    const [tripped] = run.of('guard.tripped')
    expect(tripped).toMatchObject({ step: 1 })
    expect(tripped?.rolled_back_to).toBeUndefined()
    expect(run.of('step.finished').map(({ step }) => step)).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('sees a spike (LAB-42)', async () => {
    const run = await trainHere(assignmentOf('stumbling', { max_steps: 25 }), { plugins: [stumbling(1000, [22], 1)] })
    expect(run.of('guard.tripped')).toMatchObject([{ step: 22, reason: 'spike', rolled_back_to: 21 }])
  })

  it('that comes back after three roll-backs ends the run (LAB-42)', async () => {
    const run = await trainHere(assignmentOf('stumbling'), { plugins: [stumbling(Number.NaN, [5], 99)] })
    expect(run.of('guard.tripped')).toHaveLength(3)
    expect(run.of('guard.tripped').map(({ learning_rate }) => learning_rate)).toEqual([0.005, 0.0025, 0.00125])
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'RUN_DIVERGED' } }])
  })

  it('counts the roll-backs of earlier attempts (LAB-42)', async () => {
    const run = await trainHere(assignmentOf('stumbling', {}, { guard_trips: 3 }), {
      plugins: [stumbling(Number.NaN, [5], 1)],
    })
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'RUN_DIVERGED' } }])
    expect(run.of('step.finished')[0]?.metrics['optim/lr']).toBe(0.01 / 8)
  })
})

describe('the guard of a run that goes on', () => {
  const params = { max_steps: 26, save_every: 22 }

  it('sees the spike that it would have seen (LAB-56)', async () => {
    const whole = await trainHere(assignmentOf('stumbling', params), { plugins: [stumbling(1000, [24], 1)] })
    expect(whole.of('guard.tripped')).toMatchObject([{ step: 24, reason: 'spike', rolled_back_to: 21 }])
    const saved = whole.of('checkpoint.saved').filter(({ step }) => step === 21)
    const uri = saved.find(({ kind }) => kind === 'state')?.ref ?? ''
    const upTo = whole.items.slice(0, whole.items.indexOf(whole.of('guard.tripped')[0] ?? expect.fail('no trip')))
    const assignment = assignmentOf('stumbling', params, {
      attempt: 2,
      resume: { step: 21, uri, engine_id: whole.of('run.started')[0]?.engine_id ?? '', final: false },
      past: { evals: [], checkpoints: [{ step: 21, kind: 'state', uri }], metrics: {}, losses: pastLosses(upTo, 21) },
    })
    const rest = await trainHere(assignment, { plugins: [stumbling(1000, [24], 1)] })
    expect(rest.of('guard.tripped')).toMatchObject([{ step: 24, reason: 'spike', rolled_back_to: 21 }])
    const numbers = (run: typeof rest) => run.of('step.finished').map(({ step, metrics }) => [step, metrics])
    expect(numbers(rest)).toEqual(numbers(whole).slice(22))
  })

  it('forgets what a roll-back or another attempt takes back (LAB-56)', () => {
    const at = { at: '2026-01-01T00:00:00.000Z', run_id: 'r' }
    const step = (seq: number, number: number, loss: number) =>
      ({ ...at, seq, type: 'step.finished', step: number, metrics: { 'a/train_mean_nll': loss } }) as const
    const started = { ...at, seq: 1, type: 'run.started', config_hash: 'c', attempt: 1 } as const
    const again = { ...started, seq: 5, attempt: 2, resumed_from_step: 0 } as const
    const events = [started, step(2, 0, 1), step(3, 1, 2), step(4, 2, 3), again, step(6, 1, 4), step(7, 2, 5)]
    expect(pastLosses(events, 1)).toEqual([
      { step: 0, loss: 1 },
      { step: 1, loss: 4 },
    ])
    const tripped = { ...at, seq: 8, type: 'guard.tripped', step: 3, reason: 'nan', rolled_back_to: 1 } as const
    expect(pastLosses([...events, tripped, step(9, 2, 6)], 2)).toEqual([{ step: 2, loss: 6 }])
  })
})

describe('gradient accumulation', () => {
  const rows = Array.from({ length: 8 }, (_, i) => ({
    messages: [
      { role: 'user', content: 'q'.repeat(i + 1) },
      { role: 'assistant', content: 'ab'.repeat(i + 1) },
    ],
  }))
  const train = (params: object) =>
    trainHere(
      runAssignment(folder(), {
        config: {
          data: { source_kind: 'in_memory', rows, hf_split: 'train', transforms: [] },
          algorithm: { kind: 'sft', params: { learning_rate: 0.1, num_epochs: 3, grad_clip_norm: 1, ...params } },
        },
      }),
    )

  it('makes of several small batches the update of one large one (LAB-57)', async () => {
    const large = await train({ batch_size: 4 })
    const small = await train({ batch_size: 2, gradient_accumulation_steps: 2 })
    expect(small.of('step.finished')).toHaveLength(6)
    const of = (run: typeof small, key: string) =>
      run.of('step.finished').map(({ metrics }) => metrics[key] ?? Number.NaN)
    expect(of(small, 'data/supervised_tokens')).toEqual(of(large, 'data/supervised_tokens'))
    for (const [i, loss] of of(small, 'train_mean_nll').entries()) {
      expect(loss).toBeCloseTo(of(large, 'train_mean_nll')[i] ?? Number.NaN, 6)
    }
  })

  it('works with batches by tokens, of which there are as many as the rows need (LAB-57, PLG-20)', async () => {
    const run = await train({ batch_tokens: 40, gradient_accumulation_steps: 2 })
    const steps = run.of('step.finished').map(({ metrics }) => metrics)
    expect(run.of('run.started')).toMatchObject([{ num_steps: steps.length }])
    expect(Math.max(...steps.map((metrics) => metrics['data/tokens'] ?? 0))).toBeLessThanOrEqual(80)
    expect(steps.reduce((sum, metrics) => sum + (metrics['data/rows'] ?? 0), 0)).toBeGreaterThanOrEqual(22)
  })
})

/** Builds no batch at odd steps. */
const halting = defineAlgorithm({
  kind: 'halting',
  summary: 'Skips every other step.',
  params: z.strictObject(sharedParams),
  buildBatch: async (context) => {
    const built = await sft.buildBatch({ ...context, params: sft.params.parse({ batch_size: 1 }) })
    return context.step % 2 === 1 ? { ...built, data: [] } : built
  },
})

describe('checkpoints', () => {
  it('W13: a step without a batch is told, evaluated and saved like any other (LAB-48)', async () => {
    const run = await trainHere(assignmentOf('halting'), { plugins: [halting] })
    expect(run.of('step.finished').filter(({ metrics }) => metrics['train/skipped_empty_batch'] === 1)).toHaveLength(5)
    expect([...new Set(run.of('checkpoint.saved').map(({ step }) => step))]).toEqual([1, 3, 5, 7, 9])
  })

  it('W13: the end that coincides with a checkpoint is that checkpoint (LAB-48)', async () => {
    const run = await trainHere(assignmentOf('sft'))
    const last = run.of('checkpoint.saved').filter(({ step }) => step === 9)
    expect(new Set(last.map(({ ref }) => ref)).size).toBe(2)
    expect(last.map(({ kind, final }) => [kind, final])).toEqual([
      ['sampler', false],
      ['state', false],
      ['sampler', true],
      ['state', true],
    ])
  })

  it('keeps the newest few, and deletes the files of the others (LAB-41)', async () => {
    const assignment = assignmentOf('sft', { save_every: 1 }, { checkpoints_kept: 2 })
    const run = await trainHere(assignment)
    expect(
      run
        .of('checkpoint.dropped')
        .filter(({ kind }) => kind === 'state')
        .map(({ step }) => step),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})
