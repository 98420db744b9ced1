// What the peer's training loop gets wrong, beaten in a loop of our own with real gradients.
import { describe, expect, it } from 'vitest'
import { mockBackend } from '../../src/backends/index.ts'
import { BenchmarkEntry, type RunAssignment, type TrainingService } from '../../src/contracts/index.ts'
import { defineBackend } from '../../src/kernel/index.ts'
import { benchmarkFile } from '../benchmark-file.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'

const folder = temporaryFolders()
const params = { max_steps: 6, batch_size: 1, learning_rate: 0.5 }
const assignmentOf = (changes: Partial<Omit<RunAssignment, 'config'>> = {}, config: object = {}) =>
  runAssignment(folder(), { ...changes, config: { algorithm: { kind: 'sft', params }, ...config } })

/** The mock backend with some requests of its service changed. */
const changedBackend = (change: (service: TrainingService) => Partial<TrainingService>) =>
  defineBackend({
    kind: 'mock',
    summary: 'Changes requests.',
    params: mockBackend.params,
    async open(context) {
      const opened = await mockBackend.open(context)
      const service = { ...opened.service, ...change(opened.service) }
      return { ...opened, service, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
    },
  })

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
    const listening = changedBackend((service) => ({
      sample(request) {
        const { prompt, maxTokens, temperature, stop } = request
        asked.push({ prompt: prompt.join(), maxTokens, temperature, stop: JSON.stringify(stop) })
        return service.sample(request)
      },
    }))
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

  it('W12: gradients and update are on their way together (LAB-53)', async () => {
    const order: string[] = []
    const pipelined = changedBackend((service) => {
      let sent = () => {}
      return {
        async forwardBackward(...request) {
          order.push('gradients')
          const update = new Promise<void>((resolve) => {
            sent = resolve
          })
          const result = await service.forwardBackward(...request)
          await update // a loop that waits for gradients before it sends the update would wait forever
          return result
        },
        optimStep(...request) {
          order.push('update')
          sent()
          return service.optimStep(...request)
        },
      }
    })
    const run = await trainHere(assignmentOf(), { plugins: [pipelined] })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(order).toEqual(Array.from({ length: 6 }, () => ['gradients', 'update']).flat())
  })

  it('W12: training goes on while answers are drawn and scored; the record is the same whoever is faster (LAB-55)', async () => {
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 2, num_samples: 1 })]
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    const record = async (stepsBeforeAnswers: number) => {
      let steps = 0
      let stepsAtLook = 0
      const waiting: (() => void)[] = []
      const slow = changedBackend((service) => ({
        async sample(request) {
          // Answers come only when training has gone on: a loop that waits for them would wait forever.
          const goal = Math.min(6, stepsAtLook + stepsBeforeAnswers)
          while (steps < goal) await new Promise<void>((resolve) => waiting.push(resolve))
          return service.sample(request)
        },
        save(model, name, options) {
          if (options.kind === 'sampler') stepsAtLook = steps
          return service.save(model, name, options)
        },
        async optimStep(...request) {
          const result = await service.optimStep(...request)
          steps += 1
          for (const goOn of waiting.splice(0)) goOn()
          return result
        },
      }))
      const run = await trainHere(assignmentOf({ benchmarks, objective }), {
        plugins: [slow],
        score: ({ step = 0 }) => ({ pass_rate: step === 3 ? 0.9 : 0.1 }),
      })
      return {
        steps: run.of('step.finished').map(({ step, metrics }) => ({ step, metrics })),
        evals: run.of('eval.finished').map(({ step, metrics }) => ({ step, metrics })),
        saved: run.of('checkpoint.saved').map(({ step, kind, final }) => ({ step, kind, final })),
        dropped: run.of('checkpoint.dropped').map(({ step, kind }) => ({ step, kind })),
        end: run.of('run.finished').map(({ status, best_step, metrics }) => ({ status, best_step, metrics })),
      }
    }
    const prompt = await record(0)
    expect(prompt.end).toMatchObject([{ status: 'completed', best_step: 3 }])
    expect(prompt.evals).toHaveLength(3)
    expect(await record(1)).toEqual(prompt)
    expect(await record(2)).toEqual(prompt)
  })

  it('W13: weights that were saved to be evaluated alone are deleted once they are scored (LAB-53)', async () => {
    const live = new Set<string>()
    let most = 0
    const counting = changedBackend((service) => ({
      async save(model, name, options) {
        const ref = await service.save(model, name, options)
        if (name.startsWith('eval_')) live.add(ref.uri)
        most = Math.max(most, live.size)
        return ref
      },
      async remove(ref) {
        live.delete(ref.uri)
        await service.remove?.(ref)
      },
    }))
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
