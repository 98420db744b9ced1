// The usual keep rule: a race over shared seeds against measured noise. Bad candidates go at their first seed, good ones stay after two
// or more, and the smaller the gains of late, the more seeds and evidence are asked for. A keep is provisional: it steers the search.
// Claims are made by test evaluations.
import * as z from 'zod'
import type { MeasuredGain, Race, RaceStep, SeedScore } from '../../contracts/index.ts'
import { defineKeepRule } from '../../kernel/index.ts'
import { adaptiveRule, decideRaceAt, meanOf, normalQuantile, type RaceRule, racePresets } from '../../stats/index.ts'
import { gainOf, gainOfRace, hasFailure, pairGains, valuesBySeed } from './measure-gain.ts'
import { chanceToHelp } from './shrunken-gains.ts'
import { discardedWords, inconclusiveWords, keptWords, type RaceSeen } from './verdict-words.ts'

/** Typical gain of a session that has kept nothing yet, in sigmas: its first ideas may be large, so it begins as loose as can be. */
export const startingTypicalGain = 0.8

/** Losses below this share of the noise are worth shorter code. */
const affordableLoss = 0.5

export const defaultRule = defineKeepRule({
  kind: 'default',
  summary: 'Races candidates over shared seeds against measured noise; confirms on fresh seeds and the hidden split.',
  params: z.strictObject({
    preset: z
      .enum(['explore', 'balanced', 'strict'])
      .default('balanced')
      .describe(
        '`explore`: two seeds, little evidence. `balanced`: up to three seeds, little evidence. `strict`: up to five seeds, strong evidence.',
      ),
  }),
  confirmSeeds: 5,
  finalRaces: true,
  decide(race, { params }) {
    return decideCandidate(race, ruleOf(params.preset, race))
  },
})

/** Standard errors that one seed of a training shows a gain by which it is kept at once: the next one is spared for another idea. */
const obvious = 4

function ruleOf(
  preset: 'explore' | 'balanced' | 'strict',
  { typicalGain, rules = 1, isDear = false, gain }: Race,
): RaceRule {
  if (preset !== 'balanced') return racePresets[preset]
  if (rules < 2) return adaptiveRule(typicalGain)
  // Without outcomes by item one seed says nothing of its own error.
  return isDear && gain?.item_error !== undefined ? { ...racePresets.steering, atOnce: obvious } : racePresets.steering
}

function decideCandidate(race: Race, rule: RaceRule): RaceStep {
  const { direction, candidate, incumbent, linesAdded } = race
  const gain = gainOfRace(race)
  const seen: RaceSeen = { pairs: pairGains(direction, candidate, incumbent), gain }
  if (hasFailure(candidate)) {
    return { action: 'discard', reason: discardedWords(seen, 'one of its scores is not a number') }
  }
  if (gain === undefined) return { action: 'run' }
  const shorter = linesAdded < 0
  const z = gain.mean / errorOf(gain)
  const decision = decideRaceAt(gain.n, z, rule)
  if (decision === 'keep') return guarded(race, seen)
  if (decision === 'discard') {
    // Shorter code need not be better, only not worse: it is dropped for losses, and else runs to its last seed.
    if (!shorter || z < -1) return { action: 'discard', reason: discardedWords(seen) }
    if (gain.n < rule.maxSeeds) return { action: 'run' }
  }
  if (decision === 'continue') return { action: 'run' }
  if (shorter && lossBound(gain) < affordableLoss * race.noise.sigma) {
    return guarded(race, seen, `${-linesAdded} lines fewer at no loss that matters`)
  }
  return { action: 'park', reason: inconclusiveWords(seen) }
}

function errorOf({ sigma, n }: MeasuredGain): number {
  return sigma / Math.sqrt(n)
}

/** Upper end of a one-sided 90 % bound of what the candidate loses. */
function lossBound(gain: MeasuredGain): number {
  return normalQuantile(0.9) * errorOf(gain) - gain.mean
}

function guarded(race: Race, seen: RaceSeen, why?: string): RaceStep {
  const broken = brokenGuard(race)
  if (broken !== undefined) return { action: 'discard', reason: discardedWords(seen, broken) }
  const chance = race.tried === undefined || seen.gain === undefined ? undefined : chanceToHelp(seen.gain, race.tried)
  return { action: 'keep', reason: keptWords(seen, { chance, why }) }
}

// The keep rule that others use: two seeds, the mean decides, and the second is spared when the first is worse than the best mean. That
// mean was chosen for being good, so it is a lucky one. Here to be compared with.
const seeds = 2

export const referenceRule = defineKeepRule({
  kind: 'reference',
  summary:
    'Keeps what has the better mean of two seeds; the second seed is spared when the first is worse than the best mean.',
  incumbent: 'kept',
  decide(race) {
    const { direction, candidate } = race
    if (hasFailure(candidate)) return { action: 'discard', reason: 'Discarded: one of its scores is not a number.' }
    const best = meanOf([...valuesBySeed(race.incumbent).values()].slice(0, seeds))
    const values = [...valuesBySeed(candidate).values()].slice(0, seeds)
    if (values.length === 0) return { action: 'run' }
    if (Number.isNaN(best)) return { action: 'park', reason: 'Inconclusive: the incumbent has no score.' }
    const better = gainOf(direction, meanOf(values), best) > 0
    const measured = `mean of ${values.length} ${values.length === 1 ? 'seed' : 'seeds'}`
    if (!better) return { action: 'discard', reason: `Discarded: the ${measured} is no better than the best mean.` }
    if (values.length < seeds) return { action: 'run' }
    const broken = brokenGuard(race)
    return broken === undefined
      ? { action: 'keep', reason: `Kept (provisional): the ${measured} is better than the best mean.` }
      : { action: 'discard', reason: `Discarded: ${broken}.` }
  },
})

// One run, any gain. What is kept is often luck, and the bar rises with every lucky run. Here to be compared with.
export const greedyRule = defineKeepRule({
  kind: 'greedy',
  summary: 'Keeps whatever is better in one run.',
  incumbent: 'kept',
  decide(race) {
    if (hasFailure(race.candidate)) return { action: 'discard', reason: 'Discarded: its score is not a number.' }
    const [value] = valuesBySeed(race.candidate).values()
    const [best] = valuesBySeed(race.incumbent).values()
    if (value === undefined) return { action: 'run' }
    if (best === undefined) return { action: 'park', reason: 'Inconclusive: the incumbent has no score.' }
    if (!(gainOf(race.direction, value, best) > 0))
      return { action: 'discard', reason: 'Discarded: no better in one run.' }
    const broken = brokenGuard(race)
    return broken === undefined
      ? { action: 'keep', reason: 'Kept (provisional): better in one run.' }
      : { action: 'discard', reason: `Discarded: ${broken}.` }
  },
})

// Metrics that must not get worse: memory, time, a second score. A guard compares shared seeds and allows the tolerance that the task
// states; what goes beyond it must be more than noise. A guarded metric that a candidate does not report is never read as fine.
/** Standard errors beyond the tolerance that make a loss more than noise. */
const limit = 2

/** Why the candidate may not be kept; undefined when every guard holds. */
export function brokenGuard(race: Pick<Race, 'candidate' | 'incumbent' | 'secondary'>): string | undefined {
  for (const guard of race.secondary) {
    const broken = brokenBy(guard, race)
    if (broken !== undefined) return broken
  }
  return undefined
}

function brokenBy(guard: Race['secondary'][number], race: Pick<Race, 'candidate' | 'incumbent'>): string | undefined {
  const { metric, direction, tolerance } = guard
  const before = valuesOf(metric, race.incumbent)
  // Nothing to compare with: the task does not measure it yet.
  if (before.size === 0) return undefined
  const after = valuesOf(metric, race.candidate)
  if (after.size < new Set(race.candidate.map(({ seed }) => seed)).size) return `${metric} is missing`
  const shared = [...after].flatMap(([seed, value]) => {
    const old = before.get(seed)
    return old === undefined ? [] : [{ old, value }]
  })
  if (shared.length === 0) return undefined
  const excess = meanOf(shared.map(({ old, value }) => -gainOf(direction, value, old) - tolerance * Math.abs(old)))
  const error = spreadOf([...before.values()], [...after.values()]) * Math.sqrt(2 / shared.length)
  if (!(excess > limit * error && excess > 0)) return undefined
  const old = meanOf(shared.map((pair) => pair.old))
  const change = meanOf(shared.map((pair) => pair.value)) - old
  const measured = old === 0 ? change.toPrecision(2) : `${((100 * change) / Math.abs(old)).toFixed(1)} %`
  return `${metric} changed by ${change > 0 ? '+' : ''}${measured}, ${(100 * tolerance).toFixed(1)} % is allowed`
}

function valuesOf(metric: string, scores: readonly SeedScore[]): Map<number, number> {
  const values = new Map<number, number>()
  for (const { seed, secondary } of scores) {
    const value = secondary[metric]
    if (value !== undefined && Number.isFinite(value) && !values.has(seed)) values.set(seed, value)
  }
  return values
}

// Spread over seeds within each of the two: one race has too few pairs to know the spread of its differences.
function spreadOf(...groups: readonly (readonly number[])[]): number {
  let squares = 0
  let df = 0
  for (const group of groups) {
    const mean = meanOf(group)
    squares += group.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    df += Math.max(0, group.length - 1)
  }
  return df === 0 ? 0 : Math.sqrt(squares / df)
}
