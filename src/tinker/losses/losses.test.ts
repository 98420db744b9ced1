import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adam, bigramEngine, datum, openClient } from '../../../tests/tinker-clients.ts'
import type { CustomLoss, Datum } from '../../contracts/index.ts'
import * as ops from './operators.ts'
import { defineLoss, Value } from './operators.ts'
import { dpoLoss, ipoLoss, ktoLoss } from './preference-losses.ts'

// On a grid that keeps away from the places where two pieces meet: there is no slope to measure there.
const vector = (length: number, min: number, max: number) =>
  fc
    .array(fc.integer({ min: min * 1000, max: max * 1000 - 1 }), { minLength: length, maxLength: length })
    .map((values) => Float64Array.from(values, (value) => (value + 0.5) / 1000))

/** Slopes by computation, and by moving each number a little. */
function bothSlopes(f: (x: Value) => Value, at: Float64Array): { exact: number[]; measured: number[] } {
  const leaf = new Value(at)
  const exact = [...(f(leaf).slopes([leaf])[0] ?? new Float64Array(at.length))]
  const measured = Array.from(at, (x, index) => {
    const step = 1e-6 * Math.max(1, Math.abs(x))
    const moved = (by: number) => f(new Value(at.with(index, x + by))).item
    return (moved(step) - moved(-step)) / (2 * step)
  })
  return { exact, measured }
}

function expectEqualSlopes(f: (x: Value) => Value, at: Float64Array): void {
  const { exact, measured } = bothSlopes(f, at)
  for (const [index, slope] of exact.entries()) {
    const other = measured[index] ?? Number.NaN
    expect(Math.abs(slope - other)).toBeLessThan(1e-5 * Math.max(1, Math.abs(slope)))
  }
}

const other = Float64Array.of(0.31, -1.7, 2.9)

describe('operators', () => {
  it.each<[string, (x: Value) => Value]>([
    ['add', (x) => ops.sum(ops.mul(ops.add(x, other), other))],
    ['add of a scalar', (x) => ops.sum(ops.mul(ops.add(2, x), x))],
    ['sub', (x) => ops.sum(ops.mul(ops.sub(other, x), other))],
    ['mul', (x) => ops.sum(ops.mul(x, ops.mul(x, other)))],
    ['mul of a scalar', (x) => ops.mul(ops.sum(x), ops.mean(x))],
    ['div', (x) => ops.sum(ops.div(other, ops.add(x, 7)))],
    ['div by a constant', (x) => ops.sum(ops.div(x, other))],
    ['neg', (x) => ops.sum(ops.mul(ops.neg(x), other))],
    ['exp', (x) => ops.sum(ops.exp(x))],
    ['log', (x) => ops.sum(ops.log(ops.add(x, 7)))],
    ['square', (x) => ops.sum(ops.square(x))],
    ['min', (x) => ops.sum(ops.mul(ops.min(x, ops.mul(x, 2)), other))],
    ['max', (x) => ops.sum(ops.mul(ops.max(x, ops.neg(x)), other))],
    ['clamp', (x) => ops.sum(ops.mul(ops.clamp(x, -1.5, 1.5), x))],
    ['sigmoid', (x) => ops.sum(ops.sigmoid(x))],
    ['logsigmoid', (x) => ops.sum(ops.logsigmoid(x))],
    ['mean', (x) => ops.mean(ops.mul(x, other))],
    ['where', (x) => ops.sum(ops.where([1, 0, 1], ops.exp(x), ops.mul(x, x)))],
    ['gather', (x) => ops.sum(ops.mul(ops.gather(x, [2, 0, 2]), other))],
    ['concat', (x) => ops.sum(ops.square(ops.concat([x, ops.sum(x), x])))],
    ['all together', (x) => ops.logsigmoid(ops.sub(ops.mean(ops.exp(x)), ops.sum(ops.mul(other, ops.sigmoid(x)))))],
  ])('%s has the slope that is measured (TNK-30)', (_name, f) => {
    fc.assert(
      fc.property(vector(3, -3, 3), (at) => {
        expectEqualSlopes(f, at)
      }),
    )
  })

  it('stopGradient lets no slope through (TNK-30)', () => {
    const x = new Value(Float64Array.of(2, 3))
    const loss = ops.sum(ops.mul(ops.stopGradient(ops.exp(x)), x))
    expect(loss.slopes([x])[0]).toEqual(Float64Array.of(Math.exp(2), Math.exp(3)))
    expect(ops.sum(ops.stopGradient(x)).slopes([x])).toEqual([undefined])
  })

  it('have the slopes they state where there is a choice (TNK-30)', () => {
    const slopeOf = (f: (x: Value) => Value, at: number) => {
      const x = new Value(Float64Array.of(at))
      return f(x).slopes([x])[0]?.[0]
    }
    expect(slopeOf((x) => ops.min(x, 1), 1)).toBe(1)
    expect(slopeOf((x) => ops.max(1, x), 1)).toBe(0)
    expect(slopeOf((x) => ops.clamp(x, 0, 1), 1)).toBe(1)
    expect(slopeOf((x) => ops.where([0], ops.log(ops.mul(x, -1)), x), 1)).toBe(1)
  })

  it('stay finite at the ends (TNK-30)', () => {
    const x = new Value(Float64Array.of(-800, 800))
    expect(ops.logsigmoid(x).data).toEqual(Float64Array.of(-800, -0))
    expect(ops.sum(ops.logsigmoid(x)).slopes([x])[0]).toEqual(Float64Array.of(1, 0))
    expect(ops.sigmoid(x).data).toEqual(Float64Array.of(0, 1))
  })

  it('follow a chain that is deeper than the stack (TNK-30)', () => {
    const x = new Value(Float64Array.of(1))
    let deep: Value = x
    for (let step = 0; step < 50_000; step++) deep = ops.add(deep, 1)
    expect(deep.slopes([x])).toEqual([Float64Array.of(1)])
  })

  it('refuse vectors that do not go together (TNK-30)', () => {
    expect(() => ops.add([1, 2], [1, 2, 3])).toThrow(/does not go with/)
    expect(() => ops.gather([1], [1])).toThrow(/place 1/)
    expect(() => ops.clamp(1, 2, 1)).toThrow(/nothing lies/)
    expect(() => ops.mean([])).toThrow(/no mean/)
    expect(() => new Value(Float64Array.of(1, 2)).slopes([])).toThrow(/a loss is a scalar/)
  })
})

const shape = [3]
const withReference = (reference: Float64Array, weights?: Float64Array): Datum => ({
  tokens: Int32Array.of(1, 2, 3),
  lossInputs: {
    target_tokens: { data: Int32Array.of(2, 3, 4), shape },
    reference_logprobs: { data: reference, shape },
    ...(weights === undefined ? {} : { weights: { data: weights, shape } }),
  },
})

describe('losses made of operators', () => {
  const losses: [string, CustomLoss][] = [
    ['dpoLoss', dpoLoss({ beta: 0.3 })],
    ['ipoLoss', ipoLoss({ beta: 0.3 })],
    ['ktoLoss', ktoLoss({ beta: 0.3, isDesirable: (index) => index !== 1, undesirableWeight: 2 })],
  ]

  it.each(losses)('%s has the gradient that is measured (TNK-31)', (name, { custom }) => {
    const four = fc.tuple(vector(3, -4, -0.1), vector(3, -4, -0.1), vector(3, -4, -0.1), vector(3, -4, -0.1))
    fc.assert(
      fc.property(four, four, (own, reference) => {
        const data = reference.map((each, index) =>
          withReference(each, index === 0 ? Float64Array.of(0, 1, 0.5) : undefined),
        )
        const run = (at: readonly Float64Array[]) =>
          custom(
            data,
            at.map((numbers) => ({ data: numbers, shape })),
          )
        const { gradients, metrics } = run(own)
        // The point of reference has no gradient by definition; measured, it would have one where it is not 0.
        fc.pre(name !== 'ktoLoss' || metrics?.reference_point === 0)
        for (const [index, numbers] of own.entries()) {
          for (const [at, x] of numbers.entries()) {
            const moved = (by: number) => run(own.with(index, numbers.with(at, x + by))).loss
            const measured = (moved(1e-6) - moved(-1e-6)) / 2e-6
            expect(Math.abs((gradients[index]?.data[at] ?? 0) - measured)).toBeLessThan(1e-5)
          }
        }
      }),
    )
  })

  it('dpoLoss is log 2 where policy and reference agree, and counts wins (TNK-31)', () => {
    const zero = Float64Array.of(0, 0, 0)
    const data = [withReference(zero), withReference(zero)]
    const tensor = (value: number) => ({ data: new Float64Array(3).fill(value), shape })
    const { custom } = dpoLoss()
    expect(custom(data, [tensor(0), tensor(0)])).toMatchObject({ loss: Math.LN2, metrics: { accuracy: 0, margin: 0 } })
    const better = custom(data, [tensor(-1), tensor(-2)])
    expect(better.metrics?.accuracy).toBe(1)
    expect(better.metrics?.margin).toBeCloseTo(0.3, 12)
    expect(better.loss).toBeCloseTo(Math.log1p(Math.exp(-0.3)), 12)
  })

  it('say what is missing (TNK-31)', () => {
    const tensor = { data: Float64Array.of(0, 0, 0), shape }
    const zero = Float64Array.of(0, 0, 0)
    expect(() => dpoLoss().custom([withReference(zero)], [tensor])).toThrow(/no pairs/)
    expect(() => dpoLoss().custom([datum([1, 2]), datum([1, 2])], [tensor, tensor])).toThrow(/lacks reference_logprobs/)
    const partial = defineLoss(({ logprobs: [first = new Value(zero)] }) => ({ loss: ops.sum(first) }))
    expect(() => partial.custom([withReference(zero), withReference(zero)], [tensor, tensor])).toThrow(/on datum 1/)
  })

  it('train through the service: the loss falls (TNK-31) (conformance 39)', async () => {
    const { client } = await openClient({ double: { engine: bigramEngine() } })
    const model = await client.createModel({ baseModel: 'm', rank: 4, seed: 3 })
    const plain = [datum([1, 2, 3, 4]), datum([1, 5, 6, 7])]
    const { outputs } = await model.forward(plain, { name: 'cross_entropy' })
    const data = plain.map((each, index) => ({
      ...each,
      lossInputs: {
        ...each.lossInputs,
        reference_logprobs: outputs[index]?.logprobs ?? { data: new Float32Array(), shape: [0] },
      },
    }))
    const loss = dpoLoss({ beta: 0.5 })
    const losses: number[] = []
    for (let step = 0; step < 5; step++) {
      const pass = model.forwardBackward(data, loss)
      const done = model.optimStep(adam)
      losses.push((await pass).metrics['loss:sum'] ?? Number.NaN)
      await done
    }
    expect(losses[0]).toBeCloseTo(Math.LN2, 6)
    expect(losses).toEqual([...losses].sort((a, b) => b - a))
    expect(losses.at(-1)).toBeLessThan(0.5)
  })
})
