import { describe, expect, it } from 'vitest'
import { sdft } from '../../src/algorithms/distill/sdft.ts'
import { byteTokenizer, openPlainChat } from '../../src/backends/models/mock-models.ts'
import type { PromptExample, Sample, SampleReq, StepContext } from '../../src/contracts/index.ts'
import { pluginContext } from '../plugin-context.ts'

const renderer = openPlainChat(byteTokenizer)
const row: PromptExample = { inputs: { question: 'why?' }, expected: 'because', metadata: {} }
const answer = byteTokenizer.encode('so it is')

/** A step with a service that answers alike, and whose teacher likes the tokens 1 and 2 at every place. */
function stepContext(params: object) {
  const asked: SampleReq[] = []
  const unused = () => {
    throw new Error('sdft asks for none of this')
  }
  const context = pluginContext(sdft, params)
  const step: StepContext<typeof context.params, 'prompt_dataset'> = {
    ...context,
    ...{ step: 0, batchIndex: 0, numSteps: 1, rows: [row], renderer, tokenizer: byteTokenizer },
    batch: () => [row],
    policy: async () => ({ kind: 'sampler', uri: 'student' }),
    keepPolicy: unused,
    later: unused,
    reference: { baseModel: 'start' },
    base: { baseModel: 'base' },
    rollout: unused,
    others: { weights: unused, tokenizerOf: unused, client: unused },
    once: unused,
    service: {
      async sample(request): Promise<Sample[]> {
        asked.push(request)
        const drawn = { tokens: answer, logprobs: new Float64Array(answer.length), stopReason: 'stop' as const }
        const k = request.topKPromptLogprobs
        if (k === undefined) return [drawn]
        const places = Array.from(request.prompt, () => [1, 2])
        const logprobs = Float64Array.from(places.flatMap(() => [Math.log(0.6), Math.log(0.2)]))
        return [{ ...drawn, topKPromptLogprobs: { k, tokens: Int32Array.from(places.flat()), logprobs } }]
      },
    },
  }
  return { step, asked }
}

describe('a step of sdft', () => {
  it('shows the wanted answer to the teacher alone, and trains on the student’s answer alone (RL-305)', async () => {
    const { step, asked } = stepContext({ topk: 2, skip_first_n_tokens: 3 })
    const { data, loss } = await sdft.buildBatch(step)
    const [student, teacher] = asked
    expect(loss).toEqual({ name: 'cross_entropy' })
    expect([student?.model, teacher?.model]).toEqual([{ kind: 'sampler', uri: 'student' }, { baseModel: 'start' }])
    expect(byteTokenizer.decode(student?.prompt ?? new Int32Array())).not.toContain('because')
    const shown = byteTokenizer.decode(teacher?.prompt ?? new Int32Array())
    expect(shown).toContain('why?\n\nThis is an example for a response to the question:\nbecause')
    expect(shown.endsWith('so it is')).toBe(true)
    const [datum] = data
    const prompt = student?.prompt.length ?? 0
    expect([...(datum?.tokens ?? [])]).toEqual([...(student?.prompt ?? []), ...answer].slice(0, -1))
    const weights = [...(datum?.lossInputs.weights?.data ?? [])]
    for (let place = 0; place < weights.length / 2; place++) {
      const isTrained = place + 1 >= prompt + 3
      const pair = weights.slice(place * 2, place * 2 + 2)
      expect(pair.map((each) => each.toFixed(6))).toEqual(
        isTrained ? ['0.750000', '0.250000'] : ['0.000000', '0.000000'],
      )
    }
  })

  it('has nothing to train on where answers are shorter than what is skipped (RL-305)', async () => {
    const { step } = stepContext({ topk: 2, skip_first_n_tokens: 20 })
    expect((await sdft.buildBatch(step)).data).toEqual([])
  })

  it('names the field that a template misses before anything is drawn (RL-305)', async () => {
    const { step, asked } = stepContext({ user_template: '{query}' })
    await expect(sdft.setup?.(step)).rejects.toMatchObject({ code: 'DATA_INVALID' })
    expect(asked).toEqual([])
  })
})
