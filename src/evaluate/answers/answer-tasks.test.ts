import { describe, expect, it } from 'vitest'
import { Benchmark, type GenerateRequest, type OpenInferenceClient } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { answerWithClient } from './answer-tasks.ts'

const { signal } = new AbortController()
const benchmark = Benchmark.parse({ name: 'val', num_samples: 2, temperature: 1, max_tokens: 7 })
const tasks = ['a', 'b'].map((task_id) => ({ task_id, instruction: `say ${task_id}` }))

function client(answer: (request: GenerateRequest) => string): OpenInferenceClient & { asked: GenerateRequest[] } {
  const asked: GenerateRequest[] = []
  return {
    asked,
    async generate(request) {
      asked.push(request)
      return {
        text: answer(request),
        stopReason: 'stop',
        usage: { promptTokens: 3, completionTokens: 2, latencyS: 0.5 },
      }
    },
  }
}

describe('answers of a client', () => {
  it('one for each task and sample, each with a seed of its own that is the same again (EVL-8)', async () => {
    const first = client(() => 'x')
    const predictions = await answerWithClient({ benchmark, tasks, client: first, seed: 1, signal })
    expect(predictions.map(({ task_id, sample }) => `${task_id}${sample}`)).toEqual(['a0', 'a1', 'b0', 'b1'])
    expect(predictions[0]).toEqual({
      ...{ task_id: 'a', sample: 0, output: 'x', complete: true },
      ...{ prompt_tokens: 3, completion_tokens: 2, latency_s: 0.5 }, // no price, no cost
    })
    const seeds = first.asked.map(({ seed }) => seed)
    expect(new Set(seeds).size).toBe(4)
    const again = client(() => 'x')
    await answerWithClient({ benchmark, tasks, client: again, seed: 1, signal })
    expect(again.asked.map(({ seed }) => seed).sort()).toEqual(seeds.sort())
    expect(first.asked.every(({ maxTokens, temperature }) => maxTokens === 7 && temperature === 1)).toBe(true)
  })

  it('one that fails is a prediction with its error, and the others go on (EVL-8)', async () => {
    const failing = client(({ messages }) => {
      if (String(messages[0]?.content).includes('say a')) throw new EvsysError('INFERENCE_FAILED', 'overloaded')
      return 'fine'
    })
    const predictions = await answerWithClient({ benchmark, tasks, client: failing, seed: 1, signal })
    expect(predictions.map(({ output, error }) => output ?? error?.code)).toEqual([
      'INFERENCE_FAILED',
      'INFERENCE_FAILED',
      'fine',
      'fine',
    ])
  })

  it('cancelling is no failure of the answers (EVL-8)', async () => {
    const stop = new AbortController()
    const stopping = client(() => {
      stop.abort(new Error('enough'))
      throw new Error('cut off')
    })
    await expect(
      answerWithClient({ benchmark, tasks, client: stopping, seed: 1, signal: stop.signal }),
    ).rejects.toThrow('enough')
  })
})
