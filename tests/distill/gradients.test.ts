// The losses of distillation on a real model: gradients of the reference engine against finite differences of its own losses.
import { describe, expect, it } from 'vitest'
import { reverseKlLoss, softSequence, softTarget } from '../../src/algorithms/distill/soft-targets.ts'
import type { CustomLoss, Datum, Engine } from '../../src/contracts/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.ts'
import { evaluateLoss, unweighted, withGradients } from '../../src/tinker/loss-data.ts'
import { adam, bytesOf, ce, lora, openers, pass, run, sample } from '../engine/engine-under-test.ts'

const { open } = openers(createReferenceEngine)
const tokens = Int32Array.from([3, 1, 4, 1, 5])
const trained = (at: number) => at >= 2 // the first two are a prompt
const k = 3

/** A teacher with other weights than the student, asked for its likeliest tokens. */
async function taught() {
  await using teacher = await open(lora(2, 9))
  await pass(teacher, [{ tokens: tokens.slice(0, -1), lossInputs: plain(tokens) }])
  await run(teacher, { op: 'optim_step', model: 'm', adam: { ...adam, learningRate: 0.3 } })
  const [drawn] = await sample(teacher, {
    prompt: tokens,
    numSamples: 1,
    maxTokens: 1,
    temperature: 0,
    seed: 0,
    topKPromptLogprobs: k,
  })
  const scores = drawn?.topKPromptLogprobs
  if (scores === undefined) throw new Error('the engine scores prompts')
  const made = softSequence(tokens, k, (at) => (trained(at) ? softTarget(scores, at) : undefined))
  if (made === undefined) throw new Error('there are places to train on')
  const rows = new Float64Array((tokens.length - 1) * k).fill(Number.NaN)
  for (let at = 2; at < tokens.length; at++) rows.set(scores.logprobs.slice(at * k, (at + 1) * k), (at - 1) * k)
  return { datum: made.datum, rows }
}

function plain(all: Int32Array) {
  const length = all.length - 1
  return {
    target_tokens: { data: all.slice(1), shape: [length] },
    weights: { data: new Float64Array(length).fill(1), shape: [length] },
  }
}

const signal = new AbortController().signal
const custom = (rows: Float64Array): CustomLoss => ({
  custom: (data, logprobs) => reverseKlLoss(data, logprobs, [rows], 1.5),
})

type Pass = (engine: Engine, backward: boolean) => Promise<number>
const losses: Record<string, (made: { datum: Datum; rows: Float64Array }) => Pass> = {
  'cross entropy with a teacher’s distribution':
    ({ datum }) =>
    async (engine, backward) =>
      (await pass(engine, [datum], ce, backward ? 'forward_backward' : 'forward')).metrics['loss:sum'] ?? Number.NaN,
  'reverse KL over a teacher’s likeliest tokens':
    ({ datum, rows }) =>
    async (engine, backward) => {
      const { outputs } = await pass(engine, unweighted([datum]), ce, 'forward')
      const { loss, gradients } = await evaluateLoss([datum], custom(rows), outputs, signal)
      if (backward) await pass(engine, withGradients([datum], gradients))
      return loss
    },
}

describe.each(Object.entries(losses))('%s', (_name, lossOf) => {
  it('has the gradient that finite differences give on the reference engine (RL-304)', async () => {
    const made = await taught()
    await using engine = await open(lora(2))
    const loss = lossOf(made)
    await loss(engine, true)
    // A step at a rate of 0 moves nothing and leaves a tenth of the gradient in Adam's first moment.
    await run(engine, { op: 'optim_step', model: 'm', adam: { ...adam, learningRate: 0 } })
    const state = decodeCheckpoint(await bytesOf(engine, 'export_state'))
    const start = await bytesOf(engine)
    let checked = 0
    for (const [name, { data: moments }] of state.adam?.first ?? []) {
      const [at, moment] = largest(moments)
      if (Math.abs(moment) < 1e-9) continue
      const moved = async (by: number) => {
        const checkpoint = decodeCheckpoint(start)
        const weights = checkpoint.weights.get(name)?.data
        if (weights === undefined) throw new Error(`no weights ${name}`)
        weights[at] = (weights[at] ?? 0) + by
        await run(engine, { op: 'import', model: 'm', bytes: encodeCheckpoint(checkpoint), optimizer: false })
        return loss(engine, false)
      }
      const numeric = ((await moved(1e-4)) - (await moved(-1e-4))) / 2e-4
      expect(moment / 0.1, name).toBeCloseTo(numeric, 3)
      checked += 1
    }
    expect(checked).toBeGreaterThan(3)
  })
})

function largest(values: ArrayLike<number>): [at: number, value: number] {
  return Array.from(values).reduce<[number, number]>(
    (best, value, at) => (Math.abs(value) > Math.abs(best[1]) ? [at, value] : best),
    [0, 0],
  )
}
