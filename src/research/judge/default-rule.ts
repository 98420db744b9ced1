// The usual keep rule: a race over shared seeds against measured noise. Bad candidates go at their first seed, good ones stay after two
// or more, and the smaller the gains of late, the more seeds and evidence are asked for. A keep is provisional: it steers the search.
// Claims are made by looks at the hidden split.

import * as z from 'zod'
import type { Race, RaceStep } from '../../contracts/index.ts'
import { defineKeepRule } from '../../kernel/index.ts'
import { adaptiveRule, decideRace, normalQuantile, type RaceRule, racePresets } from '../../stats/index.ts'
import { brokenGuard } from './guards.ts'
import { meanOf } from './mean-of.ts'
import { hasFailure, pairGains } from './pair-gains.ts'
import { discardedWords, inconclusiveWords, keptWords } from './verdict-words.ts'

/** Typical gain of a session that has kept nothing yet, in sigmas: its first ideas may be large. */
export const startingTypicalGain = 1.6

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
        '`explore`: two seeds, little evidence. `balanced`: stricter as gains get smaller. `strict`: up to five seeds, strong evidence.',
      ),
  }),
  confirmSeeds: 5,
  decide(race, { params }) {
    return decideCandidate(race, ruleOf(params.preset, race.typicalGain))
  },
})

function ruleOf(preset: 'explore' | 'balanced' | 'strict', typicalGain: number): RaceRule {
  return preset === 'balanced' ? adaptiveRule(typicalGain) : racePresets[preset]
}

function decideCandidate(race: Race, rule: RaceRule): RaceStep {
  const { direction, candidate, incumbent, noise, linesAdded } = race
  const gains = pairGains(direction, candidate, incumbent)
  if (hasFailure(candidate)) {
    return { action: 'discard', reason: discardedWords(gains, noise.sigma, 'one of its scores is not a number') }
  }
  const shorter = linesAdded < 0
  const decision = decideRace(gains, noise.sigma, rule)
  if (decision === 'keep') return guarded(race, gains)
  if (decision === 'discard') {
    // Shorter code need not be better, only not worse: it is dropped for losses, and else goes on to its last seed.
    const z = (meanOf(gains) * Math.sqrt(gains.length)) / noise.sigma
    if (!shorter || z < -1) return { action: 'discard', reason: discardedWords(gains, noise.sigma) }
    if (gains.length < rule.maxSeeds) return { action: 'run' }
  }
  if (decision === 'continue') return { action: 'run' }
  if (shorter && lossBound(gains, noise.sigma) < affordableLoss * noise.sigma) {
    return guarded(race, gains, `${-linesAdded} lines fewer at no loss that matters`)
  }
  return { action: 'park', reason: inconclusiveWords(gains, noise.sigma) }
}

/** Upper end of a one-sided 90 % bound of what the candidate loses. */
function lossBound(gains: readonly number[], sigma: number): number {
  return (normalQuantile(0.9) * sigma) / Math.sqrt(gains.length) - meanOf(gains)
}

function guarded(race: Race, gains: readonly number[], why?: string): RaceStep {
  const broken = brokenGuard(race)
  const { sigma } = race.noise
  return broken === undefined
    ? { action: 'keep', reason: keptWords(gains, sigma, why) }
    : { action: 'discard', reason: discardedWords(gains, sigma, broken) }
}
