// Tree-structured Parzen estimator (Bergstra et al. 2011): draws where good candidates are dense and bad ones are not.
import type { Random } from '../../../contracts/index.ts'
import { clamp, type Dimension, type Point } from '../../surrogate/knob-space.ts'

/**
 * Points, best first: the score is the log of the density of good candidates over that of bad ones. `observed` are in any order;
 * those without a loss are bad.
 */
export function sampleTpe(
  dimensions: readonly Dimension[],
  observed: readonly { readonly point: Point; readonly loss: number | undefined }[],
  count: number,
  random: Random,
): { readonly point: number[]; readonly score: number }[] {
  const ranked = [...observed].sort((a, b) => (a.loss ?? Number.MAX_VALUE) - (b.loss ?? Number.MAX_VALUE))
  const scored = ranked.filter(({ loss }) => loss !== undefined).length
  const cut = Math.min(scored, Math.max(1, Math.min(25, Math.ceil(0.2 * ranked.length))))
  const all = ranked.map(({ point }) => point)
  const [good, bad] = [densities(dimensions, all.slice(0, cut)), densities(dimensions, all.slice(cut))]
  const points = Array.from({ length: count }, () => {
    const point = good.map((density) => density.draw(random))
    const score = point.reduce((sum, value, i) => sum + (good[i]?.log(value) ?? 0) - (bad[i]?.log(value) ?? 0), 0)
    return { point, score }
  })
  return points.sort((a, b) => b.score - a.score)
}

interface Density {
  draw(random: Random): number
  log(value: number): number
}

function densities(dimensions: readonly Dimension[], points: readonly Point[]): Density[] {
  return dimensions.map((dimension, i) => {
    const values = points.map((point) => point[i] ?? 0)
    return dimension.kind === 'category' ? categories(values, dimension.levels ?? 1) : parzen(values)
  })
}

// Counts, and one for every value as a prior.
function categories(values: readonly number[], levels: number): Density {
  const weights = Array.from(
    { length: levels },
    (_, level) => 1 / levels + values.filter((value) => value === level).length,
  )
  const total = weights.reduce((sum, each) => sum + each, 0)
  return {
    draw(random) {
      let left = random.float() * total
      const found = weights.findIndex((weight) => {
        left -= weight
        return left < 0
      })
      return Math.max(0, found)
    },
    log: (value) => Math.log((weights[value] ?? 1e-9) / total),
  }
}

// A normal around every value, as wide as the way to its neighbours, and one over the whole line as a prior.
function parzen(values: readonly number[]): Density {
  const sorted = [...values].sort((a, b) => a - b)
  const narrowest = 1 / Math.min(20, sorted.length + 2)
  const parts = sorted.map((centre, i) => {
    const left = centre - (sorted[i - 1] ?? 0)
    const right = (sorted[i + 1] ?? 1) - centre
    return { centre, width: Math.min(0.5, Math.max(narrowest, left, right) * 0.7) }
  })
  parts.push({ centre: 0.5, width: 1 })
  return {
    draw(random) {
      const { centre, width } = parts[random.int(parts.length)] ?? { centre: 0.5, width: 1 }
      return clamp(centre + width * random.normal())
    },
    log(value) {
      const density = parts.reduce(
        (sum, { centre, width }) => sum + Math.exp(-0.5 * ((value - centre) / width) ** 2) / width,
        0,
      )
      return Math.log(Math.max(density / parts.length, 1e-300))
    },
  }
}
