// Attempts by category or family: how many, what became of them, what they gained, and what a category teaches in plain words. Every
// sentence is computed; none is written by a model.
import { countText } from '../../kernel/index.ts'
import { type MeasuredEffect, shrink } from '../../stats/index.ts'
import { clipped } from '../html/markup.ts'
import { effectOf, groupBy, isKept, type PlacedAttempt, sum } from './placed-attempt.ts'
import type { SessionFigures } from './session-figures.ts'
import type { NumberWords } from './value-text.ts'

export interface GroupFigures {
  readonly name: string
  readonly attempts: readonly PlacedAttempt[]
  readonly kept: number
  readonly confirmed: number
  readonly nearMisses: number
  readonly discarded: number
  readonly failed: number
  /** Sum of the shrunken gains of what was kept. */
  readonly gain: number
  /** Mean of all measured gains, kept or not. */
  readonly meanGain?: number | undefined
}

/** Groups in the order of what they gained, then of their size. */
export function groupFigures(
  { placed, prior }: Pick<SessionFigures, 'placed' | 'prior'>,
  keyOf: (attempt: PlacedAttempt) => string,
): GroupFigures[] {
  const tried = placed.filter(({ outcome }) => outcome !== 'baseline')
  return [...groupBy(tried, keyOf)]
    .map(([name, attempts]) => {
      const count = (...outcomes: readonly string[]) =>
        attempts.filter(({ outcome }) => outcomes.includes(outcome)).length
      const effects = attempts.flatMap(({ attempt }) => (attempt.gain === undefined ? [] : [effectOf(attempt.gain)]))
      const shrunken = (effect: MeasuredEffect) => (prior === null ? effect.effect : shrink(effect, prior).effect)
      const kept = attempts
        .filter(isKept)
        .flatMap(({ attempt: { gain } }) => (gain === undefined ? [] : effectOf(gain)))
      return {
        name,
        attempts,
        kept: count('provisional', 'confirmed'),
        confirmed: count('confirmed'),
        nearMisses: count('inconclusive'),
        discarded: count('discarded'),
        failed: count('failed'),
        gain: sum(kept.map(shrunken)),
        meanGain: effects.length === 0 ? undefined : sum(effects.map(({ effect }) => effect)) / effects.length,
      }
    })
    .sort((a, b) => b.gain - a.gain || b.attempts.length - a.attempts.length || (a.name < b.name ? -1 : 1))
}

/** Attempts of one family without a keep that make it a dead end. */
const deadEndTries = 4

export function insightsOf(figures: SessionFigures, words: NumberWords) {
  const groups = groupFigures(figures, ({ attempt }) => attempt.category)
  const total = groups.reduce((sum, { gain }) => sum + Math.max(0, gain), 0)
  return groups.map((category) => ({
    category,
    sentences: [
      yieldSentence(category, total, words),
      ...bestSentence(category, words),
      ...nearMissSentence(category, words),
      ...familySentences(category, figures),
      ...failureSentence(category),
    ],
  }))
}

function yieldSentence(
  { name, attempts, kept, confirmed, gain, meanGain }: GroupFigures,
  total: number,
  words: NumberWords,
): string {
  const tried = `${attempts.length} ${name} ${attempts.length === 1 ? 'change was' : 'changes were'} tried`
  if (kept === 0) {
    const typical =
      meanGain === undefined
        ? ''
        : `; ${attempts.length === 1 ? 'it' : 'on average they'} changed the score by ${words.gain(meanGain)}`
    return `${tried} and none was kept${typical}.`
  }
  const share = total > 0 && gain > 0 ? `, which is ${Math.round((100 * gain) / total)} % of all that was gained` : ''
  const sure = confirmed === 0 ? '' : ` (${confirmed} confirmed)`
  return `${tried}: ${kept} ${kept === 1 ? 'was' : 'were'} kept${sure}, worth ${words.gain(gain)} after shrinking${share}.`
}

function bestSentence({ attempts }: GroupFigures, words: NumberWords): string[] {
  const best = largest(attempts.filter(isKept))
  return best?.attempt.gain === undefined
    ? []
    : [`The largest step was “${title(best)}” (raw ${words.gain(best.attempt.gain.mean)}).`]
}

function nearMissSentence({ attempts }: GroupFigures, words: NumberWords): string[] {
  const near = attempts.filter(({ outcome }) => outcome === 'inconclusive')
  const best = largest(near)
  if (best?.attempt.gain === undefined) return []
  const { mean, n } = best.attempt.gain
  const rest = near.length === 1 ? '' : ` It is one of ${near.length} near misses.`
  return [`Undecided: “${title(best)}”, ${words.gain(mean)} over ${countText(n, 'seed')}.${rest}`]
}

function familySentences({ attempts }: GroupFigures, figures: SessionFigures): string[] {
  const families = groupFigures({ ...figures, placed: attempts }, ({ attempt }) => attempt.family)
  const dead = families
    .filter((family) => family.kept === 0 && family.nearMisses === 0 && family.attempts.length >= deadEndTries)
    .sort((a, b) => b.attempts.length - a.attempts.length)
    .slice(0, 2)
  return dead.map(
    (family) => `The family “${clip(family.name)}” looks like a dead end: ${family.attempts.length} tries, none kept.`,
  )
}

function failureSentence({ attempts, failed }: GroupFigures): string[] {
  return failed >= 2 && failed / attempts.length >= 0.25
    ? [`${failed} of ${attempts.length} failed before they had a score.`]
    : []
}

function largest(attempts: readonly PlacedAttempt[]): PlacedAttempt | undefined {
  const gain = ({ attempt }: PlacedAttempt) => attempt.gain?.mean ?? Number.NEGATIVE_INFINITY
  return attempts.reduce<PlacedAttempt | undefined>(
    (best, each) => (best === undefined || gain(each) > gain(best) ? each : best),
    undefined,
  )
}

function title({ attempt }: PlacedAttempt): string {
  return clip(attempt.title)
}

const clip = (text: string) => clipped(text, 90)
