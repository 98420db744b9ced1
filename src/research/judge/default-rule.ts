// The usual keep rule: a race over shared seeds against measured noise. Bad candidates go at their first seed, good ones stay after two
// or more, and the smaller the gains of late, the more seeds and evidence are asked for. A keep is provisional: it steers the search.
// Claims are made by looks at the hidden split.

import * as z from 'zod'
import type { MeasuredGain, Race, RaceStep } from '../../contracts/index.ts'
import { defineKeepRule } from '../../kernel/index.ts'
import { adaptiveRule, decideRaceAt, normalQuantile, type RaceRule, racePresets } from '../../stats/index.ts'
import { brokenGuard } from './guards.ts'
import { measureGain } from './measure-gain.ts'
import { hasFailure, pairGains } from './pair-gains.ts'
import { chanceToHelp } from './race-prior.ts'
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
  const { direction, candidate, incumbent, linesAdded } = race
  const gain = measureGain(race)
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
    // Shorter code need not be better, only not worse: it is dropped for losses, and else goes on to its last seed.
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
  return { action: 'keep', reason: keptWords(seen, { ...(chance !== undefined && { chance }), ...(why && { why }) }) }
}
