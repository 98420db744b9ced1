import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type KeyedRandom, keyedRandom, philox4x32, systemRandom } from './keyed-random.ts'

const take = (n: number, draw: () => number) => Array.from({ length: n }, draw)
const words = (random: KeyedRandom, n = 8) => take(n, () => random.uint32())
const path = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  {
    maxLength: 4,
  },
)

describe('keyedRandom', () => {
  it('draws the same for the same path, whatever else is drawn in between (KER-10)', () => {
    fc.assert(
      fc.property(fc.integer(), path, path, fc.array(fc.nat({ max: 3 })), (seed, mine, other, noise) => {
        const alone = words(keyedRandom(seed, ...mine), 20)
        const neighbour = keyedRandom(seed, ...other)
        const random = keyedRandom(seed, ...mine)
        const mixed = take(20, () => {
          for (const kind of noise) {
            if (kind === 0) neighbour.float()
            if (kind === 1) neighbour.normal()
            if (kind === 2) neighbour.shuffle([1, 2, 3])
            if (kind === 3) neighbour.uint32()
          }
          random.derive('x').uint32()
          return random.uint32()
        })
        expect(mixed).toEqual(alone)
      }),
    )
  })

  it('keeps these draws forever: stored runs depend on them (KER-10)', () => {
    const random = keyedRandom(42, 'shuffle', 3, 'task-7')
    // Computed by a second implementation, in Python: hashlib for the key, the definition of Philox, math.log.
    expect(words(random, 4)).toEqual([2763110026, 129597443, 693499680, 1187798418])
    expect(random.float()).toBe(0.48298360297776144)
    expect(random.int(1000)).toBe(255)
    expect(random.int(2 ** 40)).toBe(153047968228)
    const normals = [1.0913319677630295, -0.1459396183962232, -0.445209456488893]
    expect(take(3, () => random.normal())).toEqual(normals)
    expect(random.shuffle([1, 2, 3, 4, 5, 6])).toEqual([3, 2, 1, 5, 4, 6])
    expect(random.pick(['a', 'b', 'c', 'd'])).toBe('b')
  })

  it('tells paths apart by place and type (KER-10)', () => {
    const paths: (string | number)[][] = [
      [],
      [''],
      ['', ''],
      ['a', 'b'],
      ['ab'],
      ['b', 'a'],
      ['a,b'],
      ['a","b'],
      [1],
      ['1'],
      [1, 1],
      [11],
      [0.5],
      ['\ud800'],
      ['\ud801'],
      ['\ufffd'],
    ]
    expect(new Set(paths.map((each) => words(keyedRandom(7, ...each)).join())).size).toBe(paths.length)
    expect(words(keyedRandom(1, 2))).not.toEqual(words(keyedRandom(2, 1)))
    expect(words(keyedRandom(0))).toEqual(words(keyedRandom(-0)))
  })

  it('gives different paths different draws (KER-10)', () => {
    fc.assert(
      fc.property(path, path, (left, right) => {
        const same = JSON.stringify(left) === JSON.stringify(right)
        expect(words(keyedRandom(1, ...left)).join() === words(keyedRandom(1, ...right)).join()).toBe(same)
      }),
    )
  })

  it('derives by continuing the path, without drawing (KER-10)', () => {
    fc.assert(
      fc.property(fc.integer(), path, path, (seed, start, rest) => {
        const parent = keyedRandom(seed, ...start)
        parent.uint32()
        expect(words(parent.derive(...rest))).toEqual(words(keyedRandom(seed, ...start, ...rest)))
      }),
    )
  })

  it('does not notice when the caller changes the path later', () => {
    const mine = ['a']
    const random = keyedRandom(1, ...mine)
    mine[0] = 'b'
    expect(words(random.derive('c'))).toEqual(words(keyedRandom(1, 'a', 'c')))
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %d in a path', (number) => {
    expect(() => keyedRandom(number)).toThrow(/not JSON/)
    expect(() => keyedRandom(1, number)).toThrow(/not JSON/)
  })

  it.each([0, -1, 1.5, 2 ** 53, Number.NaN])('refuses int(%d)', (n) => {
    expect(() => keyedRandom(1).int(n)).toThrow(RangeError)
  })

  it('stays in range', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (seed, n) => {
        const random = keyedRandom(seed)
        for (let i = 0; i < 20; i++) {
          const draw = random.int(n)
          expect(Number.isSafeInteger(draw) && draw >= 0 && draw < n).toBe(true)
          const float = random.float()
          expect(float >= 0 && float < 1).toBe(true)
        }
      }),
    )
  })

  it('shuffles a copy, and picks what is there', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.integer()), (seed, items) => {
        const before = [...items]
        const shuffled = keyedRandom(seed).shuffle(items)
        expect(items).toEqual(before)
        expect(shuffled.toSorted()).toEqual(before.toSorted())
        if (items.length > 0) expect(items).toContain(keyedRandom(seed).pick(items))
      }),
    )
    expect(() => keyedRandom(1).pick([])).toThrow(RangeError)
  })
})

// Fixed seeds: these are facts about the generator, checked once more on each run. The bounds are the 0.999 quantiles.
describe('the draws', () => {
  const chiSquare = (counts: readonly number[]) => {
    const expected = counts.reduce((a, b) => a + b, 0) / counts.length
    return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  }
  const histogram = (bins: number, draws: readonly number[]) => {
    const counts = new Array<number>(bins).fill(0)
    for (const draw of draws) counts[draw] = (counts[draw] ?? 0) + 1
    return counts
  }

  it('fill 64 bins evenly, by high bits, by low bits and as floats (KER-10)', () => {
    const random = keyedRandom(2024, 'chi-square')
    const draws = words(random, 64_000)
    const quantile63 = 103.44
    expect(
      chiSquare(
        histogram(
          64,
          draws.map((word) => word >>> 26),
        ),
      ),
    ).toBeLessThan(quantile63)
    expect(
      chiSquare(
        histogram(
          64,
          draws.map((word) => word & 63),
        ),
      ),
    ).toBeLessThan(quantile63)
    const floats = take(64_000, () => random.float())
    expect(
      chiSquare(
        histogram(
          64,
          floats.map((x) => Math.floor(x * 64)),
        ),
      ),
    ).toBeLessThan(quantile63)
  })

  it('use all 53 bits of a float', () => {
    const random = keyedRandom(3, 'bits')
    const bits = new Set<number>()
    for (let i = 0; i < 2_000; i++) {
      let scaled = random.float() * 2 ** 53
      expect(Number.isInteger(scaled)).toBe(true)
      for (let bit = 0; bit < 53; bit++, scaled = Math.floor(scaled / 2)) if (scaled % 2 === 1) bits.add(bit)
    }
    expect(bits.size).toBe(53)
  })

  it('are unbiased for an n just above half of the range (KER-10)', () => {
    // A plain remainder would give the lower third twice the weight.
    const n = 3 * 2 ** 30
    const random = keyedRandom(5, 'bias')
    const thirds = histogram(
      3,
      take(30_000, () => Math.floor(random.int(n) / 2 ** 30)),
    )
    expect(chiSquare(thirds)).toBeLessThan(13.82)
    const wide = 3 * 2 ** 51
    const wideThirds = histogram(
      3,
      take(30_000, () => Math.floor(random.int(wide) / 2 ** 51)),
    )
    expect(chiSquare(wideThirds)).toBeLessThan(13.82)
  })

  it('of neighbouring paths are independent (KER-10)', () => {
    // First draws of paths that differ in a counter: what a run does at each step.
    const pairs = take(32_000, () => 0).map((_, step) => {
      const [a, b] = [keyedRandom(9, 'step', step), keyedRandom(9, 'step', step + 1)]
      return (a.uint32() >>> 29) * 8 + (b.uint32() >>> 29)
    })
    expect(chiSquare(histogram(64, pairs))).toBeLessThan(103.44)
  })

  it('of normal() have mean 0, variance 1, no skew and normal tails', () => {
    const random = keyedRandom(11, 'normal')
    const n = 100_000
    const draws = take(n, () => random.normal())
    const moment = (k: number) => draws.reduce((sum, x) => sum + x ** k, 0) / n
    // Four standard errors of each moment.
    expect(Math.abs(moment(1))).toBeLessThan(4 / Math.sqrt(n))
    expect(Math.abs(moment(2) - 1)).toBeLessThan(4 * Math.sqrt(2 / n))
    expect(Math.abs(moment(3))).toBeLessThan(4 * Math.sqrt(15 / n))
    expect(Math.abs(moment(4) - 3)).toBeLessThan(4 * Math.sqrt(96 / n))
    const beyond = draws.filter((x) => Math.abs(x) > 1.959964).length / n
    expect(Math.abs(beyond - 0.05)).toBeLessThan(4 * Math.sqrt((0.05 * 0.95) / n))
  })

  it('shuffle every order equally often (KER-10)', () => {
    const random = keyedRandom(13, 'orders')
    const index = new Map<string, number>()
    const draws = take(24_000, () => {
      const order = random.shuffle([0, 1, 2, 3]).join('')
      if (!index.has(order)) index.set(order, index.size)
      return index.get(order) ?? 0
    })
    expect(index.size).toBe(24)
    expect(chiSquare(histogram(24, draws))).toBeLessThan(49.73)
  })
})

function philox(counter: readonly number[], key: readonly number[]): string {
  const out = new Int32Array(4)
  philox4x32(Int32Array.from(counter), Int32Array.from(key), out)
  return Array.from(out, (word) => (word >>> 0).toString(16).padStart(8, '0')).join(' ')
}

describe('philox4x32', () => {
  // The vectors of `philox4x32 10` in the file kat_vectors of Random123, the authors' own implementation.
  it.each([
    [[0, 0, 0, 0], [0, 0], '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
    [[-1, -1, -1, -1], [-1, -1], '408f276d 41c83b0e a20bc7c6 6d5451fd'],
    [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], 'd16cfe09 94fdcceb 5001e420 24126ea1'],
  ])('gives the published answer for counter %j and key %j (KER-10)', (counter, key, answer) => {
    expect(philox(counter, key)).toBe(answer)
  })

  it('agrees with the definition in exact arithmetic (KER-10)', () => {
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(fc.tuple(word, word, word, word), fc.tuple(word, word), (counter, key) => {
        expect(philox(counter, key)).toBe(exactPhilox(counter, key))
      }),
    )
  })
})

function exactPhilox(counter: readonly number[], key: readonly number[]): string {
  const mask = 0xffffffffn
  let [c0 = 0n, c1 = 0n, c2 = 0n, c3 = 0n] = counter.map(BigInt)
  let [k0 = 0n, k1 = 0n] = key.map(BigInt)
  for (let round = 0; round < 10; round++) {
    const product0 = 0xd2511f53n * c0
    const product1 = 0xcd9e8d57n * c2
    c0 = (product1 >> 32n) ^ c1 ^ k0
    c1 = product1 & mask
    c2 = (product0 >> 32n) ^ c3 ^ k1
    c3 = product0 & mask
    k0 = (k0 + 0x9e3779b9n) & mask
    k1 = (k1 + 0xbb67ae85n) & mask
  }
  return [c0, c1, c2, c3].map((word) => word.toString(16).padStart(8, '0')).join(' ')
}

describe('systemRandom', () => {
  it('draws whole 32-bit words and floats below one, beyond its pool', () => {
    const words = Array.from({ length: 1_000 }, () => systemRandom.uint32())
    expect(words.every((word) => Number.isInteger(word) && word >= 0 && word < 2 ** 32)).toBe(true)
    // 1,000 words of 32 bits: even one repetition has a chance of 1 in 8,600, ten have none.
    expect(new Set(words).size).toBeGreaterThan(990)
    const floats = Array.from({ length: 1_000 }, () => systemRandom.float())
    expect(floats.every((float) => float >= 0 && float < 1)).toBe(true)
  })
})
