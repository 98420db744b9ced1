// What the peer's training loop gets wrong, beaten in a loop of our own with real gradients.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mockBackend } from '../../src/backends/index.ts'
import { BenchmarkEntry, type Datum, type RunAssignment } from '../../src/contracts/index.ts'
import { defineBackend } from '../../src/kernel/index.ts'
import { benchmarkFile } from '../benchmark-file.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'

const folder = temporaryFolders()
const params = { max_steps: 6, batch_size: 1, learning_rate: 0.5 }
const assignmentOf = (changes: Partial<Omit<RunAssignment, 'config'>> = {}, config: object = {}) =>
  runAssignment(folder(), { ...changes, config: { algorithm: { kind: 'sft', params }, ...config } })

describe('the training loop', () => {
  it('W3: after training, the best checkpoint on validation answers, not the last one (LAB-53)', async () => {
    const dir = folder()
    const greedy = { temperature: 0, num_samples: 1 }
    const benchmarks = [
      benchmarkFile(dir, { name: 'val', run_every: 1, ...greedy }),
      benchmarkFile(dir, { name: 'test', split: 'test', ...greedy }),
    ]
    const answers = new Map<string, string>()
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    const run = await trainHere(assignmentOf({ benchmarks, objective, checkpoints_kept: 1 }), {
      score({ benchmark, step, predictions }) {
        answers.set(`${benchmark} ${step ?? 'final'}`, predictions.map(({ output }) => output).join('|'))
        return { pass_rate: step === 1 ? 0.9 : 0.1 }
      },
    })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed', best_step: 1 }])
    expect(answers.get('test final')).toBe(answers.get('val 1'))
    expect(answers.get('test final')).not.toBe(answers.get('val 5'))
  })

  it('W7: answers during and after training are drawn alike: one renderer, one template, one length (LAB-53)', async () => {
    const asked: { prompt: string; maxTokens: number; temperature: number; stop: string }[] = []
    const listening = defineBackend({
      kind: 'mock',
      summary: 'Writes down what is sampled.',
      params: mockBackend.params,
      async open(context) {
        const opened = await mockBackend.open(context)
        const { service } = opened
        const sample: typeof service.sample = (request) => {
          const { prompt, maxTokens, temperature, stop } = request
          asked.push({ prompt: prompt.join(), maxTokens, temperature, stop: JSON.stringify(stop) })
          return service.sample(request)
        }
        return {
          ...opened,
          service: { ...service, sample },
          [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
        }
      },
    })
    const dir = folder()
    const shared = { chat_template: { system_prompt: 'Be brief.', user_template: '<{prompt}>' } }
    const benchmarks = [
      benchmarkFile(dir, { name: 'val', run_every: 6, ...shared }),
      benchmarkFile(dir, { name: 'test', split: 'test', ...shared }),
    ]
    await trainHere(assignmentOf({ benchmarks }), { plugins: [listening] })
    expect(asked).toHaveLength(6)
    expect(asked.slice(3)).toEqual(asked.slice(0, 3))
    expect(BenchmarkEntry.parse({ run_every: 5 }).max_tokens).toBe(BenchmarkEntry.parse({}).max_tokens)
  })

  it('W12: gradients and update are on their way together; an evaluation is over before the next step (LAB-53)', async () => {
    const order: string[] = []
    const pipelined = defineBackend({
      kind: 'mock',
      summary: 'Answers gradients only when the update has been sent.',
      params: z.strictObject({}),
      async open(context) {
        const opened = await mockBackend.open({ ...context, params: mockBackend.params.parse({}) })
        const { service } = opened
        let sent = () => {}
        const forwardBackward: typeof service.forwardBackward = async (id, data: readonly Datum[], loss, seq) => {
          order.push('gradients')
          const update = new Promise<void>((resolve) => {
            sent = resolve
          })
          const result = await service.forwardBackward(id, data, loss, seq)
          await update // a loop that waits for gradients before it sends the update would wait forever
          return result
        }
        const optimStep: typeof service.optimStep = (...request) => {
          order.push('update')
          sent()
          return service.optimStep(...request)
        }
        return {
          ...opened,
          service: { ...service, forwardBackward, optimStep },
          [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
        }
      },
    })
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 2 })]
    await trainHere(assignmentOf({ benchmarks }), {
      plugins: [pipelined],
      score: ({ step }) => {
        order.push(`scored ${step}`)
        return { pass_rate: 0 }
      },
    })
    const step = ['gradients', 'update']
    expect(order).toEqual([...step, ...step, 'scored 1', ...step, ...step, 'scored 3', ...step, ...step, 'scored 5'])
  })

  it('W13: snapshots that were only taken to be looked at are let go of (LAB-53)', async () => {
    const live = new Set<string>()
    let most = 0
    const counting = defineBackend({
      kind: 'mock',
      summary: 'Counts snapshots.',
      params: mockBackend.params,
      async open(context) {
        const opened = await mockBackend.open(context)
        const { service } = opened
        const snapshot: typeof service.snapshot = async (...request) => {
          const ref = await service.snapshot(...request)
          live.add(ref.uri)
          most = Math.max(most, live.size)
          return ref
        }
        const remove: NonNullable<typeof service.remove> = async (ref) => {
          live.delete(ref.uri)
          await service.remove?.(ref)
        }
        return {
          ...opened,
          service: { ...service, snapshot, remove },
          [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
        }
      },
    })
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 1 })]
    await trainHere(assignmentOf({ benchmarks }), { plugins: [counting] })
    expect(most).toBe(1)
    expect([...live]).toEqual([])
  })

  it('W14: less may be better: the checkpoint with the lowest cost is the best (LAB-53)', async () => {
    const benchmarks = [benchmarkFile(folder(), { name: 'v1.5', run_every: 1 })]
    const objective = { benchmark: 'v1.5', metric: 'tokens', direction: 'min' as const }
    const costs = [5, 3, 4, 3, 9, 8]
    const run = await trainHere(assignmentOf({ benchmarks, objective }), {
      score: ({ step = 0 }) => ({ tokens: costs[step] ?? 0 }),
    })
    expect(run.of('run.finished')).toMatchObject([{ best_step: 1 }])
  })
})
