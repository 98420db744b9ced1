import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { countingBackend, type SnapshotCount } from '../../../tests/counting-backend.ts'
import { resumed } from '../../../tests/resumed-assignment.ts'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { trainHere } from '../../../tests/train-here.ts'
import { sharedParams } from '../../algorithms/index.ts'
import type { Datum, KeptPolicy, LaterStep, StepContext, Trajectory, TurnTokens } from '../../contracts/index.ts'
import { defineAgent, defineAlgorithm, onAbort } from '../../kernel/index.ts'

const folder = temporaryFolders()
const Params = z.strictObject({ ...sharedParams, off_policy: z.int().default(1), stumble_at: z.int().default(-1) })
type Context = StepContext<z.output<typeof Params>, 'harbor_task'>
type Begun = { answers: Promise<Trajectory>[]; policy: KeptPolicy }

const loss = { name: 'cross_entropy' }

/** An answer that is trained on as it was drawn. */
function likelier({ prompt, completion }: TurnTokens): Datum {
  const all = Int32Array.from([...prompt, ...completion])
  const shape = [all.length - 1]
  const weights = new Float64Array(all.length - 1).fill(1)
  return {
    tokens: all.slice(0, -1),
    lossInputs: { target_tokens: { data: all.slice(1), shape }, weights: { data: weights, shape } },
  }
}

/** Trains on answers that were drawn a step before, told by `seen` as [step, version of its answers]. */
function drawingAhead(
  options: {
    seen?: number[][] | undefined
    disposed?: string[] | undefined
    onStep?: ((step: number) => void) | undefined
  } = {},
) {
  let stumbles = 1
  const draw = (at: LaterStep<'harbor_task'> | Context, policy: KeptPolicy, size: number): Begun => {
    const sampling = { maxTokens: 8, temperature: 1 }
    const answers = at.batch(size).map((task, i) => {
      const seedPath = ['ahead', at.batchIndex, i]
      return at.rollout({ task, policy: { weights: policy.weights }, sample: i, seedPath, sampling }, at.signal)
    })
    for (const answer of answers) answer.catch(() => {})
    return { answers, policy }
  }
  return defineAlgorithm({
    kind: 'drawing_ahead',
    summary: 'Draws ahead.',
    params: Params,
    rowFormat: 'harbor_task',
    async buildBatch(context) {
      const { params, step } = context
      options.onStep?.(step)
      const begun = await context.once('begun', async () => {
        const map = new Map<number, Begun>()
        return Object.assign(map, { [Symbol.asyncDispose]: async () => void options.disposed?.push(`at ${step}`) })
      })
      const policy = await context.keepPolicy()
      const own = begun.get(step) ?? draw(context, await context.keepPolicy(), params.batch_size)
      begun.delete(step)
      const later = context.later(params.off_policy)
      if (later === undefined) await policy.release()
      else begun.set(later.step, draw(later, policy, params.batch_size))
      const answers = await Promise.all(own.answers)
      await own.policy.release()
      await own.policy.release() // twice is once
      const turns = answers.flatMap((answer) => answer.turns)
      options.seen?.push([step, ...new Set(turns.flatMap(({ tokens }) => tokens?.policyVersion ?? []))])
      return { data: turns.flatMap(({ tokens }) => (tokens === undefined ? [] : [likelier(tokens)])), loss }
    },
    stepMetrics({ step, params }) {
      const isFall = step === params.stumble_at && stumbles-- > 0
      return { train_mean_nll: isFall ? Number.NaN : 1 }
    },
  })
}

/** The same, in two phases. */
const twice = defineAlgorithm({
  kind: 'twice',
  summary: 'Draws ahead twice.',
  params: Params,
  rowFormat: 'harbor_task',
  buildBatch: async () => ({ data: [], loss }),
  phases: (params) => ['a', 'b'].map((label) => ({ kind: 'drawing_ahead', label, params })),
})

const tasks = Array.from({ length: 4 }, (_, i) => ({
  task_id: `task-${i}`,
  instruction: `question ${i}`,
  verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
}))

const assignmentOf = (params: object = {}, changes: object = {}, agent?: string) =>
  runAssignment(folder(), {
    ...changes,
    config: {
      data: { source_kind: 'in_memory', rows: tasks, hf_split: 'train', transforms: [] },
      algorithm: { kind: 'drawing_ahead', params: { max_steps: 6, batch_size: 2, save_every: 2, ...params } },
      backend: { kind: 'counting', params: {} },
      ...(agent === undefined ? {} : { agent: { kind: agent, params: {} } }),
    },
  })

const nothingLeft = (count: SnapshotCount) => {
  expect(count.taken).toBeGreaterThan(0)
  expect({ left: count.left, alive: count.sampling }).toEqual({ left: [], alive: 0 })
}

describe('work that begins ahead of its step', () => {
  it('is told of with the step that trains on it, and carries the version that drew it (RL-201)', async () => {
    const count: SnapshotCount = { taken: 0, left: [], sampling: 0 }
    const seen: number[][] = []
    const disposed: string[] = []
    const run = await trainHere(assignmentOf(), { plugins: [drawingAhead({ seen, disposed }), countingBackend(count)] })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(seen).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
    ])
    expect(run.of('rollout.finished').map(({ step }) => step)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    expect(count.taken).toBe(6) // one for each step, however often it is asked for
    expect(disposed).toEqual(['at 0'])
    nothingLeft(count)
  })

  it('ends when steps are done again, and is begun anew (RL-202)', async () => {
    const count: SnapshotCount = { taken: 0, left: [], sampling: 0 }
    const seen: number[][] = []
    const disposed: string[] = []
    const plugins = [drawingAhead({ seen, disposed }), countingBackend(count)]
    const run = await trainHere(assignmentOf({ stumble_at: 3 }), { plugins })
    expect(run.of('guard.tripped')).toMatchObject([{ step: 3, rolled_back_to: 1 }])
    expect(seen.slice(3)).toEqual([
      [3, 2],
      [2, 2], // the weights that it went back to
      [3, 2],
      [4, 3],
      [5, 4],
    ])
    expect(disposed).toEqual(['at 0', 'at 2'])
    expect(run.of('rollout.finished').map(({ step }) => step)).toEqual([0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5])
    nothingLeft(count)
  })

  it('ends with a phase, a failure and a request to stop (RL-202)', async () => {
    const ends: [string, object, { failAt?: number | undefined; leaveAt?: number | undefined }][] = [
      ['twice', { max_steps: 2 }, {}],
      ['drawing_ahead', { max_steps: 6, batch_size: 2 }, { failAt: 2 }],
      ['drawing_ahead', { max_steps: 6, batch_size: 2 }, { leaveAt: 2 }],
    ]
    for (const [kind, params, { failAt, leaveAt }] of ends) {
      const count: SnapshotCount = { taken: 0, left: [], sampling: 0 }
      const disposed: string[] = []
      const stopping = new AbortController()
      const onStep = (step: number) => {
        if (step === failAt) throw new Error('the recipe fails')
        if (step === leaveAt) stopping.abort()
      }
      const assignment = assignmentOf()
      const config = { ...assignment.config, algorithm: { kind, params: { ...params } } }
      const plugins = [drawingAhead({ disposed, onStep }), twice, countingBackend(count)]
      const run = await trainHere({ ...assignment, config }, { plugins, stopping: stopping.signal })
      const [{ status, error } = {}] = run.of('run.finished')
      const expected = leaveAt !== undefined ? undefined : failAt === undefined ? 'completed' : 'failed'
      expect({ kind, status, error: expected === 'failed' || error }).toEqual({
        kind,
        status: expected,
        error: expected === 'failed' || undefined,
      })
      expect(disposed).toHaveLength(kind === 'twice' ? 2 : 1)
      nothingLeft(count)
    }
  })

  it('says in the record that it was lost when the run was interrupted (RL-203)', async () => {
    const assignment = assignmentOf()
    const whole = await trainHere(assignment, { plugins: [drawingAhead(), countingBackend()] })
    expect(whole.of('notice')).toEqual([])
    const seen: number[][] = []
    const again = resumed(assignment, whole, { step: 3, final: false })
    const run = await trainHere(again, { plugins: [drawingAhead({ seen }), countingBackend()] })
    expect(seen[0]).toEqual([4, 4])
    expect(run.of('notice')).toMatchObject([{ text: expect.stringMatching(/^resumed at step 4: answers .* are lost/) }])
  })
})

/** Answers when it is let, or never; ends when it is told to. */
const waiting = (began: () => void) =>
  defineAgent({
    kind: 'waiting',
    summary: 'Waits.',
    params: z.strictObject({}),
    async run({ task, signal, policy, sampling }) {
      await policy.generate({ messages: [{ role: 'user', content: 'hello' }], ...sampling, seed: 1 }, signal)
      if (task.task_id !== 'task-0') return { output: 'e' }
      began()
      await new Promise((_, reject) => onAbort(signal, () => reject(signal.reason)))
      return { output: '' }
    },
  })

/** Says a word, then neither ends nor listens. */
const deaf = defineAgent({
  kind: 'deaf',
  summary: 'Never ends.',
  params: z.strictObject({}),
  async run({ policy, sampling }) {
    const messages = [{ role: 'user' as const, content: 'hello' }]
    await policy.generate({ messages, ...sampling, seed: 1 }, new AbortController().signal)
    return await new Promise<never>(() => {})
  },
})

describe('a rollout that does not end', () => {
  it('is cut off at its deadline, and what it left is judged (RL-206)', async () => {
    const seen: Trajectory[] = []
    const limited = defineAlgorithm({
      kind: 'drawing_ahead',
      summary: 'Sets a deadline.',
      params: Params,
      rowFormat: 'harbor_task',
      async buildBatch({ batch, rollout, policy, signal }) {
        const weights = await policy()
        const [task = expect.fail('no task')] = batch(1)
        const request = { task, policy: { weights }, sample: 0, seedPath: [], timeoutMs: 20 }
        seen.push(await rollout({ ...request, sampling: { maxTokens: 8, temperature: 1 } }, signal))
        return { data: [], loss }
      },
    })
    const run = await trainHere(assignmentOf({ max_steps: 2 }, {}, 'deaf'), {
      plugins: [limited, countingBackend(), deaf],
    })
    expect(run.of('step.finished')).toHaveLength(2)
    expect(seen.map(({ turns, reward, error }) => [turns.length, typeof reward, error])).toEqual([
      [1, 'number', undefined],
      [1, 'number', undefined],
    ])
  })

  it('is cut off when the run is to leave, and its step is done by the next attempt (RL-204)', async () => {
    const count: SnapshotCount = { taken: 0, left: [], sampling: 0 }
    const stopping = new AbortController()
    const plugins = [drawingAhead(), countingBackend(count), waiting(() => stopping.abort())]
    const run = await trainHere(assignmentOf({ batch_size: 4 }, {}, 'waiting'), { plugins, stopping: stopping.signal })
    expect(run.outcome).toBe('interrupted')
    expect(run.of('step.finished')).toEqual([])
    expect(run.of('rollout.finished')).toEqual([])
    nothingLeft(count)
  })
})
