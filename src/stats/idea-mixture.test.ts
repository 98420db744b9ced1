import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { ideaMixture, weighEffect } from './idea-mixture.ts'

// Ideas of known sort, each measured once with unit noise of its own.
function world(name: string, n: number, shares: { help: number; gain: number; hurt: number; loss: number }) {
  const random = draws('ideas', name)
  return Array.from({ length: n }, () => {
    const kind = random.float()
    const size = -Math.log(1 - random.float())
    const truth = kind < shares.help ? shares.gain * size : kind < shares.help + shares.hurt ? -shares.loss * size : 0
    // The incumbent's luck, a fifth of the noise, and the part of the noise that is the idea's own.
    return { truth, effect: truth - 0.2 + Math.sqrt(0.7) * random.normal(), noise: 1 }
  })
}

describe('ideaMixture', () => {
  it('finds the shares and sizes of ideas (STA-9)', () => {
    const tried = world('early', 4000, { help: 0.3, gain: 2, hurt: 0.4, loss: 4 })
    const { help, hurt, gain, loss } = ideaMixture(tried, 1)
    expect(Math.abs(help - 0.3)).toBeLessThan(0.06)
    expect(Math.abs(hurt - 0.4)).toBeLessThan(0.06)
    expect(Math.abs(gain - 2)).toBeLessThan(0.4)
    expect(Math.abs(loss - 4)).toBeLessThan(0.4)
  })

  it('says of the best looking ideas how many do nothing (STA-9)', () => {
    const tried = world('calibration', scaled(2000), { help: 0.15, gain: 1, hurt: 0.5, loss: 3 })
    const mixture = ideaMixture(tried, 1)
    const kept = tried.filter(({ effect }) => effect > 1)
    const said = kept.reduce((sum, one) => sum + weighEffect(one, mixture).probabilityNotBetter, 0) / kept.length
    const idle = kept.filter(({ truth }) => truth <= 0).length / kept.length
    expect(Math.abs(said - idle)).toBeLessThan(0.15)
    const gain = (value: (one: (typeof kept)[number]) => number) =>
      kept.reduce((sum, one) => sum + value(one), 0) / kept.length
    expect(Math.abs(gain((one) => weighEffect(one, mixture).effect) - gain(({ truth }) => truth))).toBeLessThan(0.25)
  })

  it('believes more in what looks better, and is finite for any numbers (STA-9)', () => {
    const size = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    const effects = fc.array(fc.record({ effect: size, noise: fc.double({ min: 0, max: 1e6, noNaN: true }) }), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(effects, size, size, fc.double({ min: 1e-6, max: 1e3, noNaN: true }), (tried, a, b, unit) => {
        const mixture = ideaMixture(tried, unit)
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((effect) =>
          weighEffect({ effect, noise: unit ** 2 }, mixture),
        )
        if (low === undefined || high === undefined) throw new Error('two were weighed')
        for (const value of Object.values(low)) expect(Number.isFinite(value)).toBe(true)
        expect(low.probabilityNotBetter).toBeGreaterThanOrEqual(high.probabilityNotBetter - 1e-9)
        expect(low.effect).toBeLessThanOrEqual(high.effect + 1e-6 * (1 + Math.abs(high.effect)))
      }),
    )
  })

  it('takes exact scores as they are (STA-9)', () => {
    const tried = [-3, -1, 2, 5].map((effect) => ({ effect, noise: 0 }))
    const weighed = weighEffect({ effect: 2, noise: 0 }, ideaMixture(tried, 1e-12))
    expect(weighed.effect).toBeCloseTo(2, 6)
    expect(weighed.probabilityNotBetter).toBeLessThan(1e-6)
  })
})
