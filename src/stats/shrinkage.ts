// What to print of an effect that was picked among many: the shrunken effect. Empirical Bayes with a normal prior
// (Efron and Morris 1975): g_hat = m + B (g - m), B = t2 / (t2 + noise), where m and t2 are the mean and the variance beyond noise of
// all effects that were tried, not only of those kept.
import { normalCdf, normalLogMills } from './normal-distribution.ts'

export interface EffectPrior {
  readonly mean: number
  /** Variance of true effects; 0 when noise explains all that was seen. */
  readonly variance: number
  /** Variance of `mean` itself. */
  readonly meanVariance: number
  /** What ideas do, where one normal does not tell it: `shrink` then goes by this. */
  readonly mixture?: IdeaMixture | undefined
}

/** The posterior of one effect. */
export function shrink({ effect, noise }: MeasuredEffect, prior: EffectPrior): ShrunkEffect {
  if (prior.mixture !== undefined) return weighEffect({ effect, noise }, prior.mixture)
  const total = prior.variance + noise
  const factor = total === 0 ? 1 : prior.variance / total
  const shrunk = prior.mean + factor * (effect - prior.mean)
  // B noise is the posterior variance for a known prior; the second part is the doubt about its mean (Morris 1983, eq. 1.16).
  const standardError = Math.sqrt(factor * noise + (1 - factor) ** 2 * prior.meanVariance)
  const probabilityNotBetter = standardError === 0 ? Number(shrunk <= 0) : normalCdf(-shrunk / standardError)
  return { effect: shrunk, factor, standardError, probabilityNotBetter }
}

/** How many of these keeps are expected to help nothing. */
export function expectedFalseKeeps(kept: readonly ShrunkEffect[]): number {
  return kept.reduce((sum, { probabilityNotBetter }) => sum + probabilityNotBetter, 0)
}

// What ideas do, as a mixture: some help, some do nothing at all, some hurt; sizes of both sorts are exponential. One normal for all of
// them is widened by the losses of bad ideas, and then believes in gains that are noise. Fitted by EM over everything that was tried,
// with a little said beforehand so that few results do not decide all. A likelihood does not ask why a race stopped, so races
// that ended early need no correction.
export interface IdeaMixture {
  /** Shares of ideas; with the share that does nothing they add up to one. */
  readonly help: number
  readonly hurt: number
  /** Mean gain of those that help, and mean loss of those that hurt. */
  readonly gain: number
  readonly loss: number
  /** The noise of one difference, which luck is measured in. */
  readonly unit: number
}

// Said beforehand, as so many ideas: two that help by one unit of noise, one that does nothing, two that hurt by two units. Sizes count
// for four ideas.
const before = { help: 2, idle: 1, hurt: 2, gain: 1, loss: 2, sizes: 4 } as const

// An incumbent was lucky on the seeds it won on, so all are measured a little low. And a part of the noise of a difference is the
// incumbent's: all of its races have it in common, which moves them alike and does not spread them. Both as measured in sessions of
// known truth (docs/benchmarks/research-keep.md).
const luck = 0.2
const ownNoise = 0.7

const rounds = 30

/** Fits the mixture. `unit`: the noise of one difference, above zero. Of nothing tried it is what was said beforehand. */
export function ideaMixture(tried: readonly MeasuredEffect[], unit: number): IdeaMixture {
  const said = before.help + before.idle + before.hurt
  let mixture: IdeaMixture = {
    help: before.help / said,
    hurt: before.hurt / said,
    gain: before.gain * unit,
    loss: before.loss * unit,
    unit,
  }
  for (let round = 0; round < rounds; round++) {
    let help: number = before.help
    let hurt: number = before.hurt
    let gains = before.sizes * before.gain * unit
    let losses = before.sizes * before.loss * unit
    for (const effect of tried) {
      const parts = partsOf(effect, mixture)
      help += parts.help
      hurt += parts.hurt
      gains += parts.help * parts.gain.mean
      losses += parts.hurt * parts.loss.mean
    }
    const all = said + tried.length
    mixture = {
      help: help / all,
      hurt: hurt / all,
      gain: gains / (before.sizes + help - before.help),
      loss: losses / (before.sizes + hurt - before.hurt),
      unit,
    }
  }
  return mixture
}

/** What is to be believed of one effect. */
export function weighEffect(effect: MeasuredEffect, mixture: IdeaMixture): ShrunkEffect {
  const { help, hurt, gain, loss } = partsOf(effect, mixture)
  const mean = help * gain.mean - hurt * loss.mean
  const variance = help * (gain.variance + gain.mean ** 2) + hurt * (loss.variance + loss.mean ** 2) - mean ** 2
  return {
    // A correction that raises every effect is no reason to promise more than was seen.
    effect: Math.min(mean, Math.max(0, effect.effect)),
    factor: effect.noise === 0 ? 1 : Math.min(1, Math.max(0, variance) / effect.noise),
    standardError: Math.sqrt(Math.max(0, variance)),
    probabilityNotBetter: Math.min(1, Math.max(0, 1 - help)),
  }
}

interface Size {
  readonly mean: number
  readonly variance: number
}

// Chances that the idea helps and hurts, and how large it is if so.
function partsOf({ effect, noise }: MeasuredEffect, { help, hurt, gain, loss, unit }: IdeaMixture) {
  const error = Math.sqrt(Math.max(ownNoise * noise, (1e-9 * unit) ** 2))
  const seen = (effect + luck * unit) / error
  const up = onesided(seen, gain / error)
  const down = onesided(-seen, loss / error)
  // Relative to an idea that does nothing, whose likelihood is one.
  const logs = [Math.log(help) + up.log, Math.log(1 - help - hurt), Math.log(hurt) + down.log]
  const top = Math.max(...logs)
  const [a = 0, b = 0, c = 0] = logs.map((log) => Math.exp(log - top))
  const all = a + b + c
  const sized = ({ mean, variance }: Size) => ({ mean: mean * error, variance: variance * error ** 2 })
  return { help: a / all, hurt: c / all, gain: sized(up), loss: sized(down) }
}

// An exponential size of mean `scale` seen with unit noise at `seen`: log of its likelihood over that of no size, and the size given what
// was seen, a normal around `at` cut off at zero.
function onesided(seen: number, scale: number): Size & { readonly log: number } {
  const at = seen - 1 / scale
  const mills = normalLogMills(at)
  const hazard = Math.exp(-mills) / Math.sqrt(2 * Math.PI)
  return {
    log: mills + Math.log(Math.sqrt(2 * Math.PI) / scale),
    mean: Math.max(0, at + hazard),
    variance: Math.max(0, 1 - hazard * (hazard + at)),
  }
}

// An effect as it was measured, and its shrunken value.
export interface MeasuredEffect {
  /** Positive is better. */
  readonly effect: number
  /** Variance of the measurement: sigma_d^2 / n. */
  readonly noise: number
}

export interface ShrunkEffect {
  readonly effect: number
  /** B: 1 keeps the raw value, 0 replaces it by the mean of all. */
  readonly factor: number
  readonly standardError: number
  /** Posterior chance that the true effect is zero or worse. */
  readonly probabilityNotBetter: number
}
