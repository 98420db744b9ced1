// What every engine refuses.
import { describe, expect, it } from 'vitest'
import type { Datum, NamedLoss } from '../../src/contracts/index.ts'
import { tinyContext, tinyVocab } from '../tiny-model.ts'
import {
  bytesOf,
  type CreateEngine,
  ce,
  corpus,
  datum,
  floats,
  ints,
  lora,
  openers,
  pass,
  run,
  step,
} from './engine-under-test.ts'

export function describeRefusals(create: CreateEngine): void {
  const { open, openEngine } = openers(create)

  describe('refusals', () => {
    const good = datum([1, 2, 3])
    const policy = { target_tokens: ints([2, 3]), logprobs: floats([0, 0]), advantages: floats([1, 1]) }
    const bad: [string, Datum[], NamedLoss, RegExp][] = [
      ['an unknown loss', [good], { name: 'hinge' }, /no loss is called "hinge"/],
      ['an unknown setting', [good], { name: 'cross_entropy', config: { beta: 1 } }, /no setting "beta"/],
      ['no data', [], ce, /holds no data/],
      [
        'a missing input',
        [{ ...good, lossInputs: { target_tokens: ints([1, 2]) } }],
        ce,
        /datum 0 lacks the input weights/,
      ],
      ['an input too many', [{ ...good, lossInputs: policy }], ce, /takes no input "logprobs"/],
      [
        'another length',
        [{ ...good, lossInputs: { ...good.lossInputs, weights: floats([1]) } }],
        ce,
        /weights has shape \[1\]/,
      ],
      [
        'bounds of another length',
        [{ ...good, lossInputs: { ...policy, clip_low_threshold: floats([1]) } }],
        { name: 'ppo' },
        /clip_low_threshold has shape \[1\]/,
      ],
      [
        'a value that is no number',
        [{ ...good, lossInputs: { ...good.lossInputs, weights: floats([1, Number.NaN]) } }],
        ce,
        /weights\[1\] is NaN/,
      ],
      ['a token out of range', [good, datum([1, tinyVocab, 3])], ce, /datum 1: tokens\[1\] is 17/],
      [
        'a target out of range',
        [{ ...good, lossInputs: { ...good.lossInputs, target_tokens: ints([-1, 2]) } }],
        ce,
        /target_tokens\[0\] is -1/,
      ],
      ['a text beyond the context', [datum(Array.from({ length: tinyContext + 2 }, () => 1))], ce, /has 25 tokens/],
      [
        'a ratio beyond all numbers',
        [
          { ...good, lossInputs: policy },
          { ...good, lossInputs: { ...policy, logprobs: floats([-1e30, 0]) } },
        ],
        { name: 'importance_sampling' },
        /datum 1: .* derivative -Infinity/,
      ],
    ]

    it.each(bad)(
      'name %s; the model is as before and can be used (ENG-11, conformance 37)',
      async (_what, data, loss, message) => {
        await using engine = await open(lora(2))
        await pass(engine, corpus)
        const before = await bytesOf(engine)
        await expect(pass(engine, data, loss)).rejects.toMatchObject({
          code: 'BACKEND_REFUSED',
          message: expect.stringMatching(message),
        })
        expect(await bytesOf(engine)).toEqual(before)
        await using other = await open(lora(2))
        await pass(other, corpus)
        expect(await step(engine)).toBe(await step(other))
      },
    )

    it('come for models that are unknown or taken, and adapters that train nothing (ENG-11)', async () => {
      await using engine = await open(lora(2))
      await expect(step(await openEngine())).rejects.toThrow('no model is called "m"')
      await expect(run(engine, { op: 'create', model: 'm', baseModel: 'qwen3' })).rejects.toThrow('exists already')
      const nothing = lora(2, 1, { trainAttention: false, trainMlp: false, trainUnembedding: false })
      await expect(run(engine, { op: 'create', model: 'n', baseModel: 'qwen3', lora: nothing })).rejects.toThrow(
        'nothing',
      )
      await expect(run(engine, { op: 'create', model: 'n', baseModel: 'gone' })).rejects.toThrow('no model gone')
      await expect(step(engine, { beta1: 1 })).rejects.toThrow('out of range')
      await run(engine, { op: 'unload', model: 'm' })
      await expect(step(engine)).rejects.toThrow('no model is called "m"')
    })

    it('come for models too large, before their weights are read (ENG-11)', async () => {
      await using engine = await openEngine({ maxParameters: 99 })
      await expect(run(engine, { op: 'create', model: 'm', baseModel: 'llama' })).rejects.toMatchObject({
        code: 'MODEL_INVALID',
        message: expect.stringMatching(/has \d{4} parameters, the engine takes 99/),
      })
    })

    it('leave no half of a gradient when the signal ends a pass (ENG-11)', async () => {
      await using engine = await open(lora(2))
      const controller = new AbortController()
      const data = Array.from({ length: 2000 }, () => datum(Array.from({ length: 20 }, (_, i) => i % tinyVocab)))
      const working = engine.run({ op: 'forward_backward', model: 'm', data, loss: ce }, controller.signal)
      setImmediate(() => controller.abort(new Error('stop')))
      await expect(working).rejects.toThrow('stop')
      expect(await step(engine)).toBe(0)
    })
  })
}
