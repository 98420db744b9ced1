import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { trainHere } from '../../../tests/train-here.ts'
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
