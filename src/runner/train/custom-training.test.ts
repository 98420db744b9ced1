import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { benchmarkFile } from '../../../tests/benchmark-file.ts'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { trainHere } from '../../../tests/train-here.ts'
import { sft, supervisedDatum } from '../../algorithms/index.ts'
import type { ChatMessagesRow, Prediction, RunAssignment, TrainContext } from '../../contracts/index.ts'
import { defineAlgorithm } from '../../kernel/index.ts'

const folder = temporaryFolders()
const Params = z.strictObject({ steps: z.int().default(4) })
type Context = TrainContext<z.output<typeof Params>, 'chat_messages'>

/** Drives the service itself: two updates between two reports. */
const driver = (body: (context: Context, update: () => Promise<number>) => Promise<void>) =>
  defineAlgorithm({
    kind: 'driver',
    summary: 'Drives the run.',
    params: Params,
    async train(context) {
      const data = context.rows.flatMap((row: ChatMessagesRow) => {
        const made = supervisedDatum(context.renderer.conversation(row.messages), {
          maxTokens: 100,
          isTrained: () => true,
        })
        return made?.datum ?? []
      })
      const update = async () => {
        const gradients = context.service.forwardBackward(context.modelId, data, { name: 'cross_entropy' })
        const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
        const step = context.service.optimStep(context.modelId, adam)
        const [{ metrics }] = await Promise.all([gradients, step])
        return metrics['loss:sum'] ?? Number.NaN
      }
      await body(context, update)
      return {
        run_id: context.runId,
        status: 'completed',
        metrics: { found: 1 },
        artifacts: [{ name: 'p', kind: 'prompt', ref: 'x' }],
      }
    },
  })

const assignmentOf = (changes: Partial<Omit<RunAssignment, 'config'>> = {}, kind = 'driver') => {
  const dir = folder()
  const benchmarks = [
    benchmarkFile(dir, { name: 'val', run_every: 2 }),
    benchmarkFile(dir, { name: 'late', run_every: 0 }),
  ]
  return runAssignment(dir, { benchmarks, ...changes, config: { algorithm: { kind, params: {} } } })
}

describe('an algorithm that drives the whole run', () => {
  it('reports steps, saves, is scored on the way and afterwards (LAB-49)', async () => {
    const losses: number[] = []
    const plugin = driver(async ({ report, params }, update) => {
      for (let step = 0; step < params.steps; step++) {
        losses.push(await update())
        await report(step, { loss: losses.at(-1) ?? 0 })
      }
    })
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    const run = await trainHere(assignmentOf({ objective }), {
      plugins: [plugin],
      score: ({ step }) => ({ pass_rate: step === 1 ? 1 : 0.5 }),
    })
    expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) / 2)
    expect(run.of('step.finished').map(({ step, metrics }) => [step, metrics.loss])).toEqual([...losses.entries()])
    expect(run.of('eval.finished').map(({ benchmark, step }) => [benchmark, step])).toEqual([
      ['val', 1],
      ['val', 3],
      ['late', undefined],
    ])
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed', best_step: 1, metrics: { found: 1 } }])
    expect(run.of('checkpoint.saved').map(({ step, final }) => [step, final])).toEqual([
      [1, false],
      [3, true],
      [3, true],
    ])
    expect(run.of('notice')).toMatchObject([{ text: 'left prompt "p": x' }])
  })

  it('numbers its requests from 1, whatever the lab asks in between, and what it saves is a checkpoint (LAB-49)', async () => {
    const seen: string[] = []
    const plugin = defineAlgorithm({
      kind: 'driver',
      summary: 'Saves.',
      params: Params,
      async train({ service, modelId, report, runId }) {
        const first = await service.save(modelId, 'mine', { kind: 'sampler' })
        await report(0, {})
        await report(1, {}) // scored here: the lab takes a snapshot
        const second = await service.save(modelId, 'mine-too', { kind: 'state' })
        seen.push(first.uri, second.uri)
        return { run_id: runId, status: 'completed', metrics: {}, artifacts: [] }
      },
    })
    const run = await trainHere(assignmentOf(), { plugins: [plugin] })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(run.of('checkpoint.saved').map(({ ref }) => ref)).toEqual(seen)
  })

  it('is told the reason to end that a callback gave (LAB-49)', async () => {
    const reasons: unknown[] = []
    const plugin = driver(async ({ report }) => {
      for (let step = 0; step < 8; step++) reasons.push(await report(step, {}))
    })
    const callbacks = [{ kind: 'early_stopping', params: { metric: 'pass_rate', patience: 1 } }]
    await trainHere(assignmentOf({ callbacks }), { plugins: [plugin], score: () => ({ pass_rate: 0 }) })
    expect(reasons.slice(0, 5)).toEqual([
      undefined,
      undefined,
      undefined,
      expect.stringContaining('not improved'),
      expect.any(String),
    ])
  })

  it('leaves when the run has to, and begins anew when it goes on (LAB-49)', async () => {
    const stopping = new AbortController()
    const plugin = driver(async ({ report }, update) => {
      for (let step = 0; step < 4; step++) {
        await update()
        await report(step, {})
        if (step === 1) stopping.abort()
      }
    })
    const assignment = assignmentOf({ benchmarks: [] })
    const left = await trainHere(assignment, { plugins: [plugin], stopping: stopping.signal })
    expect(left.outcome).toBe('interrupted')
    expect(left.of('run.finished')).toEqual([])
    const resume = { step: 1, uri: 'mock:///nowhere', engine_id: 'gone', final: false }
    const again = await trainHere({ ...assignment, attempt: 2, resume }, { plugins: [plugin] })
    expect(again.of('run.started')[0]?.resumed_from_step).toBeUndefined()
    expect(again.of('step.finished').map(({ step }) => step)).toEqual([0, 1, 2, 3])
  })

  it.each([
    ['throws', async () => Promise.reject(new Error('no')), 'PLUGIN_FAILED', 'algorithm "driver", train: no'],
    ['returns nonsense', async () => ({ status: 'fine' }), 'PLUGIN_FAILED', 'what is no result of a run'],
    [
      'says that it failed',
      async () => ({
        run_id: 'r',
        status: 'failed',
        metrics: {},
        artifacts: [],
        error: { code: 'DATA_INVALID', message: 'bad' },
      }),
      'DATA_INVALID',
      'bad',
    ],
  ])('that %s fails its run, with its words (LAB-49)', async (_what, train, code, message) => {
    const plugin = { ...driver(async () => {}), train } as unknown as ReturnType<typeof driver> // as a careless author may
    const run = await trainHere(assignmentOf(), { plugins: [plugin] })
    expect(run.of('run.finished')).toMatchObject([
      { status: 'failed', error: { code, message: expect.stringContaining(message) } },
    ])
  })

  it('reports steps in order (LAB-49)', async () => {
    const plugin = driver(async ({ report }) => {
      await report(1, {})
      await report(1, {})
    })
    const run = await trainHere(assignmentOf(), { plugins: [plugin] })
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'PLUGIN_FAILED' } }])
  })
})

describe('score_only', () => {
  it('scores every benchmark on the model as it came, reads no data and saves nothing (LAB-50)', async () => {
    const asked: string[] = []
    const score = ({ benchmark, predictions }: { benchmark: string; predictions: readonly Prediction[] }) => {
      asked.push(benchmark, ...predictions.map(({ output }) => output ?? ''))
      return { pass_rate: 0 }
    }
    const run = await trainHere(
      {
        ...assignmentOf({}, 'score_only'),
        config: {
          ...assignmentOf({}, 'score_only').config,
          data: { source_kind: 'jsonl', path: '/nowhere', hf_split: 'train', transforms: [] },
        },
      },
      { score },
    )
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(run.of('run.started')).toMatchObject([{ num_steps: 0 }])
    expect(run.of('data.loaded')).toEqual([])
    expect(run.of('checkpoint.saved')).toEqual([])
    expect(run.of('eval.finished').map(({ benchmark, step }) => [benchmark, step])).toEqual([
      ['val', undefined],
      ['late', undefined],
    ])
    const untrained = await trainHere(
      {
        ...assignmentOf(),
        config: {
          ...assignmentOf().config,
          algorithm: { kind: 'sft', params: sft.params.parse({ learning_rate: 0, max_steps: 1 }) },
        },
      },
      { score },
    )
    expect(untrained.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(asked.slice(0, asked.length / 2)).toEqual(asked.slice(asked.length / 2))
  })
})
