import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adoptControl, bankSize, freshSeeds, nextRaceRun, openBank, refreshBank, renewBank } from './seed-bank.ts'

const results = (seeds: readonly number[]) => seeds.map((seed) => ({ seed, value: 1 }))

describe('openBank', () => {
  it('begins with the seeds of the task, each once, and fills up (RES-202)', () => {
    const bank = openBank([42, 137, 42], 7)
    expect(bank.slice(0, 2)).toEqual([42, 137])
    expect(new Set(bank).size).toBe(bankSize)
    expect(openBank([42, 137], 7)).toEqual(bank)
    expect(openBank([1, 2, 3, 4, 5, 6], 7)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('freshSeeds', () => {
  it('never repeats a seed that was used (RES-202)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 1, max: 10 }), (sessionSeed, count) => {
        const options = { sessionSeed, path: ['look', 1], count }
        const first = freshSeeds({ ...options, used: [] })
        const second = freshSeeds({ ...options, used: first })
        expect(new Set([...first, ...second]).size).toBe(2 * count)
      }),
    )
  })
})

describe('nextRaceRun', () => {
  const bank = [10, 20, 30]

  it('runs the seeds in order, the incumbent where it has none (RES-202)', () => {
    expect(nextRaceRun(bank, [], results([10]))).toEqual({ who: 'candidate', seed: 10 })
    expect(nextRaceRun(bank, results([10]), results([10]))).toEqual({ who: 'incumbent', seed: 20 })
    expect(nextRaceRun(bank, results([10]), results([20, 10]))).toEqual({ who: 'candidate', seed: 20 })
    expect(nextRaceRun(bank, results(bank), results(bank))).toBeUndefined()
  })

  it('passes over a seed that the incumbent failed on, and ends (RES-202)', () => {
    const incumbent = [...results([10, 30]), { seed: 20, value: null }]
    expect(nextRaceRun(bank, results([10]), incumbent)).toEqual({ who: 'candidate', seed: 30 })
    expect(nextRaceRun(bank, results([10, 30]), incumbent)).toBeUndefined()
  })
})

describe('refreshBank', () => {
  it('brings one fresh seed first and lets the oldest go (RES-202)', () => {
    const bank = openBank([], 3)
    const [fresh, ...rest] = refreshBank({ bank, sessionSeed: 3, number: 1, used: [5] })
    expect(rest).toEqual(bank.slice(0, -1))
    expect(bank).not.toContain(fresh)
  })

  it('has no seed left after as many keeps as it is long (RES-202)', () => {
    const first = openBank([], 3)
    let bank = first
    for (let number = 1; number <= bankSize; number++) bank = refreshBank({ bank, sessionSeed: 3, number, used: first })
    expect(bank.filter((seed) => first.includes(seed))).toEqual([])
  })

  it('brings a seed that nothing was run on, another one at each keep (RES-202)', () => {
    const bank = openBank([], 3)
    const drawn = (number: number, used: readonly number[], of = bank) =>
      refreshBank({ bank: of, sessionSeed: 3, number, used })[0] ?? 0
    const first = drawn(1, [])
    expect(drawn(2, [])).not.toBe(first)
    expect(drawn(1, [first])).not.toBe(first)
    expect(drawn(1, [], [first, ...bank])).not.toBe(first)
    const renewed = renewBank({ bank, sessionSeed: 3, number: 1, used: [] })
    const again = renewBank({ bank, sessionSeed: 3, number: 1, used: renewed })
    const later = renewBank({ bank, sessionSeed: 3, number: 2, used: [] })
    expect(new Set([...renewed, ...again, ...later]).size).toBe(3 * bankSize)
  })

  it('begins with the seed of a control, and as long as before (RES-221)', () => {
    const bank = openBank([], 3)
    expect(adoptControl(bank, 7)).toEqual([7, ...bank.slice(0, -1)])
    expect(adoptControl(bank, bank[2] ?? 0)).toEqual(bank)
  })

  it('is all fresh after drift (RES-202)', () => {
    const bank = openBank([], 3)
    const renewed = renewBank({ bank, sessionSeed: 3, number: 1, used: bank })
    expect(new Set([...bank, ...renewed]).size).toBe(2 * bankSize)
  })
})
