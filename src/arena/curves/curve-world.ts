// A world of training curves: every idea changes where training ends, and its family decides on which way it gets there. Losses fall as a
// power of time, a + b * t^-c; some families end in a cool-down, which drops at the very end, and some start slowly and end better.
// Losses are in sigmas: the standard deviation of the difference of two runs of equal worth on one seed is 1.
import type { CurveSample } from '../../contracts/index.ts'
import type { KeyedRandom } from '../../kernel/index.ts'

export interface CurveFamily {
  readonly name: string
  /** How many of all ideas are of it. */
  readonly share: number
  /** How far above its end a curve is at a quarter of the time, cool-down apart. */
  readonly slowness: number
  /** What the cool-down takes off in the last part of the time. */
  readonly drop: number
  /** Share of its ideas that help. */
  readonly helps: number
}

export interface CurveWorld {
  readonly name: string
  readonly families: readonly CurveFamily[]
}

/** What an idea makes of the incumbent that it changes. */
interface CurveIdea {
  readonly family: CurveFamily
  /** The family that its author wrote down. */
  readonly label: string
  /** What it takes off the final loss; below zero it adds. */
  readonly gain: number
}

export interface TrainedRun {
  readonly curve: readonly CurveSample[]
  /** The score that counts: the final loss of validation. */
  readonly value: number
}

/** Length of a run. */
export const trainSeconds = 1
const points = 40
const exponent = 0.5
/** From here on the loss of a cool-down falls. */
const coolFrom = 0.8
/** Curves of one family differ by so much of their slowness. */
const shapeSd = 0.1
const pointSd = 0.5
/** Two runs of equal worth differ by 1. */
const ownSd = Math.SQRT1_2
const seedSd = 1
const brokenShare = 0.05
/** Ideas whose author names any family. */
const mislabelledShare = 0.2

export function drawIdea({ families }: CurveWorld, reached: number, draw: KeyedRandom): CurveIdea {
  const family = pickFamily(families, draw.float())
  const label = (draw.float() < mislabelledShare ? draw.pick(families) : family).name
  const kind = draw.float()
  const size = -Math.log(1 - draw.float())
  if (kind < family.helps) return { family, label, gain: 2 * size * Math.exp(-reached / 12) } // the more is reached, the less each adds
  if (kind > 1 - brokenShare) return { family, label, gain: -20 * (0.5 + size) }
  return { family, label, gain: kind < (1 + family.helps) / 2 ? 0 : -3 * size }
}

/** Trains a candidate that takes `reached` off the loss of the baseline. Noise of a seed is shared by all candidates. */
export function trainRun(
  { family, reached }: { readonly family: CurveFamily; readonly reached: number },
  seed: number,
  random: { readonly session: KeyedRandom; readonly run: KeyedRandom },
): TrainedRun {
  const draw = random.run.derive(seed)
  const end = seedSd * random.session.derive('seed', seed).normal() - reached + ownSd * draw.normal()
  // b of a + b * t^-c, so that a quarter of the time is as far above the end as the family is slow.
  const b = (family.slowness * Math.exp(shapeSd * draw.normal())) / (0.25 ** -exponent - 1)
  const curve = Array.from({ length: points }, (_, i) => {
    const seconds = (i + 1) / points
    const uncooled = Math.min(1, (1 - seconds) / (1 - coolFrom))
    const value = end + b * (seconds ** -exponent - 1) + family.drop * uncooled + pointSd * draw.normal()
    return { seconds: seconds * trainSeconds, value }
  })
  return { curve, value: end }
}

function pickFamily(families: readonly CurveFamily[], share: number): CurveFamily {
  let left = share * families.reduce((sum, each) => sum + each.share, 0)
  for (const family of families) {
    left -= family.share
    if (left < 0) return family
  }
  throw new RangeError('a world of curves has at least one family, and shares above zero')
}

// The worlds of curves by which killers are measured: from curves that never cross to winners that start last.
const steady: CurveFamily = { name: 'steady', share: 1, slowness: 15, drop: 0, helps: 0.2 }
const cooled: CurveFamily = { ...steady, name: 'cool-down', drop: 6 }
const slow: CurveFamily = { ...steady, name: 'slow', slowness: 25 }

export const curveWorlds: readonly CurveWorld[] = [
  // Who is ahead stays ahead.
  { name: 'curves-plain', families: [steady] },
  // Half of the ideas end in a cool-down, and help no more often than others.
  { name: 'curves-cooldown', families: [steady, cooled] },
  // Slow starters help more often.
  {
    name: 'curves-crossing',
    families: [
      { ...steady, share: 2, helps: 0.1 },
      { ...slow, helps: 0.4 },
    ],
  },
  // All of it.
  {
    name: 'curves-mixed',
    families: [{ ...steady, share: 2 }, cooled, slow, { ...cooled, name: 'both', slowness: 25 }],
  },
  // One idea in twenty starts slowly, and most of these win.
  {
    name: 'curves-rare',
    families: [
      { ...steady, share: 19, helps: 0.1 },
      { ...slow, slowness: 30, helps: 0.8 },
    ],
  },
]
