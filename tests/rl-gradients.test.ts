// The gradients of rl on the reference engine: the named losses through a small transformer by finite differences, the losses that are
// computed here against the named ones, and the KL penalty by its own formula.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchLoss, customLoss, type LossSequence, tokenLoss } from '../src/algorithms/rl/batch-loss.ts'
import { trainedDatum } from '../src/algorithms/rl/policy-sequences.ts'
import { lossDefaults, PolicyLoss } from '../src/algorithms/rl/rl-params.ts'
import type { Datum, Loss, Tensor } from '../src/contracts/index.ts'
import { loadBaseModel } from '../src/engine/files/base-model.ts'
import { lossFunction } from '../src/engine/losses/losses.ts'
import { forwardBackward } from '../src/engine/reference/reference-engine.ts'
import { ReferenceModel } from '../src/engine/reference/reference-model.ts'
import { keyedRandom } from '../src/kernel/index.ts'
import { temporaryFolders } from './temporary-folder.ts'
import { tinyVocab, writeTinyModel } from './tiny-model.ts'

const folder = temporaryFolders()
const names = PolicyLoss.options
const breathe = async () => {}
const tensor = (values: ArrayLike<number>): Tensor => ({ data: Float64Array.from(values), shape: [values.length] })
const logprob = fc.double({ min: -4, max: -0.01, noNaN: true })
const real = fc.double({ min: -2, max: 2, noNaN: true })
const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }

/** A sequence of a prompt token and drawn ones. */
function sequenceOf(
  drawn: readonly { q: number; advantage: number; reference: number; token?: number | undefined }[],
  scale: number,
  withReference = true,
): LossSequence {
  const reference = { reference: Float64Array.of(0, ...drawn.map((each) => each.reference)) }
  return {
    tokens: Int32Array.of(1, ...drawn.map(({ token = 2 }) => token)),
    mask: Uint8Array.of(0, ...drawn.map(() => 1)),
    logprobs: Float64Array.of(0, ...drawn.map(({ q }) => q)),
    advantages: Float64Array.of(0, ...drawn.map(({ advantage }) => advantage)),
    spans: [],
    trajectory: { taskId: 'a', sample: 0, turns: [], usage },
    trained: drawn.length,
    scale,
    ...(withReference ? reference : {}),
  }
}

describe('losses of rl', () => {
  it('that are computed here are those of the engine, token by token (RL-112)', () => {
    const bounds = { clip_low_threshold: 0.7, clip_high_threshold: 1.5 }
    const given = { importance_sampling: {}, ppo: bounds, cispo: bounds, dro: { beta: 0.3 } }
    fc.assert(
      fc.property(fc.constantFrom(...names), logprob, logprob, real, fc.boolean(), (name, p, q, advantage, isGiven) => {
        const config = isGiven ? given[name] : lossDefaults[name]
        const theirs = lossFunction({ name, config }).token(p, [q, advantage])
        const ours = tokenLoss(name, config, { p, q, advantage })
        expect(ours.loss).toBeCloseTo(theirs.loss, 10)
        expect(ours.derivative).toBeCloseTo(theirs.derivative, 10)
      }),
    )
  })

  it('with a KL penalty have the gradient that finite differences give (RL-112)', () => {
    const drawn = fc.array(fc.record({ p: logprob, q: logprob, advantage: real, reference: logprob }), {
      minLength: 1,
      maxLength: 4,
    })
    const scale = fc.double({ min: 0.05, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...names), drawn, drawn, scale, (name, first, second, factor) => {
        const config = lossDefaults[name]
        // A ratio at the very edge of its bounds has no derivative.
        const edges = Object.values(config).filter((edge) => edge > 0)
        const isEdge = [...first, ...second].some(({ p, q }) =>
          edges.some((edge) => Math.abs(p - q - Math.log(edge)) < 1e-3),
        )
        fc.pre(!isEdge)
        const sequences = [sequenceOf(first, factor), sequenceOf(second, 0.5 * factor)]
        const start = [first, second].map((each) => each.map(({ p }) => p))
        const at = (values: readonly (readonly number[])[]) =>
          customLoss(sequences, { name, config, klCoef: 0.4 }).custom([], values.map(tensor))
        const { gradients } = at(start)
        for (const [s, values] of start.entries()) {
          for (const [t, p] of values.entries()) {
            const moved = (by: number) => start.map((each, i) => each.map((v, j) => (i === s && j === t ? v + by : v)))
            const { q, advantage } = [first, second][s]?.[t] ?? expect.fail('no token')
            // The weight of cispo is kept out of its gradient: what moves with it is taken off again.
            const held = (by: number) => {
              if (name !== 'cispo' || advantage === 0) return 0
              const weight = tokenLoss(name, config, { p, q, advantage }).derivative
              return weight * (p + by) - tokenLoss(name, config, { p: p + by, q, advantage }).loss
            }
            const numeric = (at(moved(1e-5)).loss + held(1e-5) - at(moved(-1e-5)).loss - held(-1e-5)) / 2e-5
            expect(gradients[s]?.data[t]).toBeCloseTo(numeric, 5)
          }
        }
      }),
    )
  })

  it('are named where the service can compute them, with every setting, and scale the penalty of dro (RL-112)', () => {
    const sequences = [sequenceOf([{ q: -1, advantage: 1, reference: -1 }], 0.25, false)]
    const of = (params: object): Loss =>
      batchLoss(sequences, { loss: 'ppo', loss_config: {}, kl_coef: 0, normalise: 'token', ...params })
    expect(of({ loss_config: { clip_high_threshold: 1.4 } })).toEqual({
      name: 'ppo',
      config: { clip_low_threshold: 0.8, clip_high_threshold: 1.4 },
    })
    expect(of({ loss: 'dro', loss_config: { beta: 2 } })).toEqual({ name: 'dro', config: { beta: 0.5 } })
    expect(of({ loss: 'dro', normalise: 'trajectory' })).toHaveProperty('custom')
  })
})

describe('a batch of rl on a transformer', () => {
  /** A small adapter on the reference engine, and sequences drawn from nowhere near it. */
  async function setting(klCoef: number) {
    const random = keyedRandom(7, 'rl')
    const signal = new AbortController().signal
    const base = await loadBaseModel(writeTinyModel(folder(), 'llama'), { maxParameters: 1e6, signal })
    const lora = { rank: 2, seed: 3, trainAttention: true, trainMlp: true, trainUnembedding: true }
    const model = new ReferenceModel({ baseModel: 'llama', lora }, base)
    for (const [name, values] of Object.entries(model.writable())) {
      if (name.includes('lora_B')) for (const i of values.keys()) values[i] = 0.05 * random.normal()
    }
    const near = -Math.log(tinyVocab)
    const sequences = Array.from({ length: 3 }, (_, s) =>
      sequenceOf(
        Array.from({ length: 4 }, () => ({
          q: near + 0.3 * random.normal(),
          advantage: (s === 1 ? -1 : 1) * (0.5 + random.float()),
          reference: near + 0.5 * random.normal(),
          token: random.int(tinyVocab),
        })),
        1 / (s + 1),
        klCoef > 0,
      ),
    )
    const data = sequences.map((sequence) => trainedDatum(sequence) ?? expect.fail('no datum'))
    return { model, sequences, data, random }
  }

  /** The gradient by every weight of the model: what the engine adds up for the loss, named or carried by cross entropy. */
  async function gradientsOf(model: ReferenceModel, data: readonly Datum[], loss: Loss) {
    const gradients = model.zeroGradients()
    if ('name' in loss) {
      const { outputs } = await forwardBackward(model, { data, loss }, { gradients, breathe })
      return { gradients, outputs }
    }
    const carried = (weights: (i: number, t: number) => number) =>
      data.map(({ tokens, lossInputs: { target_tokens } }, i): Datum => {
        const targets = target_tokens ?? expect.fail('no targets')
        const values = tensor(Array.from(tokens, (_, t) => weights(i, t)))
        return { tokens, lossInputs: { target_tokens: targets, weights: values } }
      })
    const named = { name: 'cross_entropy' }
    const { outputs } = await forwardBackward(model, { data: carried(() => 0), loss: named }, { breathe })
    const passed = loss.custom(
      data,
      outputs.map(({ logprobs }) => logprobs ?? expect.fail('no logprobs')),
    )
    const weighted = carried((i, t) => -(passed.gradients[i]?.data[t] ?? 0))
    await forwardBackward(model, { data: weighted, loss: named }, { gradients, breathe })
    return { gradients, outputs }
  }

  it.each(names)('%s moves the weights alike, named and computed here (RL-112)', async (name) => {
    const { model, sequences, data } = await setting(0)
    const config = lossDefaults[name]
    const named = await gradientsOf(model, data, { name, config })
    const flat = sequences.map((sequence) => ({ ...sequence, scale: 1 }))
    const ours = await gradientsOf(model, data, customLoss(flat, { name, config, klCoef: 0 }))
    for (const [key, values] of Object.entries(named.gradients)) {
      expect(values.some((value) => value !== 0)).toBe(true)
      for (const [i, value] of values.entries()) expect(ours.gradients[key]?.[i]).toBeCloseTo(value, 9)
    }
  })

  it.each(names.flatMap((name) => [0, 0.3].map((klCoef) => [name, klCoef] as const)))(
    '%s with a penalty of %d in the loss goes through it as the difference of losses says (RL-112)',
    async (name, klCoef) => {
      const { model, sequences, data, random } = await setting(klCoef)
      const config = name === 'dro' ? { beta: 0.3 } : lossDefaults[name]
      const { gradients, outputs } = await gradientsOf(model, data, customLoss(sequences, { name, config, klCoef }))
      const start_T = outputs.map(({ logprobs }) => logprobs ?? expect.fail('no logprobs'))
      // An independent formula of the whole loss, with the weight of cispo held at the start.
      const lossAt = async () => {
        const zero = data.map(
          ({ tokens, lossInputs: { target_tokens } }): Datum => ({
            tokens,
            lossInputs: {
              ...(target_tokens === undefined ? {} : { target_tokens }),
              weights: tensor(new Float64Array(tokens.length)),
            },
          }),
        )
        const now = await forwardBackward(model, { data: zero, loss: { name: 'cross_entropy' } }, { breathe })
        let sum = 0
        for (const [s, { logprobs: q_T, advantages, reference, scale, mask }] of sequences.entries()) {
          for (const [at, p] of (now.outputs[s]?.logprobs?.data ?? []).entries()) {
            const t = at + 1
            if (mask[t] !== 1) continue
            const [q, a, p0] = [q_T[t] ?? 0, advantages[t] ?? 0, start_T[s]?.data[at] ?? 0]
            const r = Math.exp(p - q)
            const policy = {
              importance_sampling: -r * a,
              ppo: -Math.min(r * a, Math.min(1.2, Math.max(0.8, r)) * a),
              cispo: -Math.min(4, Math.exp(p0 - q)) * p * a,
              dro: -p * a + 0.5 * 0.3 * scale * (p - q) ** 2,
            }[name]
            sum += policy + 0.5 * klCoef * scale * (p - (reference?.[t] ?? p)) ** 2
          }
        }
        return sum
      }
      for (const [key, values] of Object.entries(model.writable())) {
        const direction = values.map(() => random.normal())
        const start = values.slice()
        const at = async (step: number) => {
          for (const i of values.keys()) values[i] = (start[i] ?? 0) + step * (direction[i] ?? 0)
          return await lossAt()
        }
        const step = 1e-5
        const [near, far] = [(await at(step)) - (await at(-step)), (await at(2 * step)) - (await at(-2 * step))]
        values.set(start)
        const numeric = (8 * near - far) / (12 * step)
        const exact = direction.reduce((sum, value, i) => sum + value * (gradients[key]?.[i] ?? Number.NaN), 0)
        expect
          .soft(Math.abs(exact - numeric), `${key}: ${exact} and ${numeric}`)
          .toBeLessThan(1e-6 * Math.max(1, Math.abs(numeric)))
      }
    },
  )
})
