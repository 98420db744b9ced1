// The choice at the end where the best is not all that counts: of what is within a tolerance of the best, the cheapest. It is made by means over
// seeds that both ran, so a cheaper candidate is first run on as many seeds as anything that is kept.
import type { ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'
import { metricMean } from '../conclude/trade-offs.ts'
import { brokenGuard } from '../keep/keep-rules.ts'
import { gainOfRace, hasFailure, pairGains } from '../keep/measure-gain.ts'
import { keepEntries, verdictEntry } from './decide-attempt.ts'
import { runsToConfirm } from './decide-test-evaluation.ts'
import { hasTimeFor } from './session-budget.ts'
import { attemptOf, raceOf } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

/** Shared seeds without which nothing is chosen. */
const leastSeeds = 2
/** Candidates that are run again for it, the cheapest first. */
const mostRunAgain = 3

export function decideChoice(deciding: Deciding): Step | undefined {
  const { state, plugins, nowMs } = deciding
  const { settings, incumbent } = state
  const choice = settings?.choice
  if (choice === undefined || incumbent === undefined || settings === undefined) return undefined
  const best = attemptOf(state, incumbent)
  const price = metricMean(best, choice.cheapest)
  if (price === null) return undefined
  const sign = choice.direction === 'max' ? -1 : 1
  // Over the seeds that both ran; until there are enough of them, by the means of all that either ran.
  const loss = (attempt: ResearchAttempt): number => {
    const gains = pairGains(settings.direction, attempt.scores, best.scores)
    if (gains.length >= leastSeeds) return -meanOf(gains)
    return -(gainOfRace(raceOf(state, attempt, best))?.mean ?? Number.NEGATIVE_INFINITY)
  }
  const cheaper = state.attempts
    .flatMap((attempt) => {
      const own = metricMean(attempt, choice.cheapest)
      return own !== null && isOpen(deciding, attempt, best) && sign * own < sign * price ? [{ attempt, own }] : []
    })
    .filter(({ attempt }) => loss(attempt) <= choice.within + rounding)
    .sort((a, b) => sign * (a.own - b.own) || a.attempt.number - b.attempt.number)
  for (const { attempt, own } of cheaper.slice(0, mostRunAgain)) {
    const shared = pairGains(settings.direction, attempt.scores, best.scores).length
    if (shared >= leastSeeds) {
      const worse = Math.max(0, loss(attempt))
      const reason = `${CHOSEN} ${choice.cheapest} ${digits(own)} against ${digits(price)} of ${best.id}, and ${worse === 0 ? 'no worse' : `${digits(worse)} worse`} over ${shared} shared seeds (${digits(choice.within)} is allowed).`
      return {
        kind: 'write',
        entries: [verdictEntry(state, attempt, 'provisional', reason), ...keepEntries(state, plugins, attempt.id)],
      }
    }
    const seed = best.scores.find(({ seed: each }) => !attempt.scores.some((score) => score.seed === each))?.seed
    if (seed === undefined || !hasTimeFor(state, nowMs, 1 + runsToConfirm(deciding), plugins.asksModel)) continue
    const { done, ...open } = neededRun(deciding, attempt, { seed, purpose: 'reevaluate' })
    if (done === undefined) return 'step' in open && open.step !== undefined ? open.step : { kind: 'wait' }
  }
  return undefined
}

const CHOSEN = 'Chosen:'

/** Whether the incumbent was chosen for its price. */
export function isChosen({ attempts, incumbent, settings }: ResearchState): boolean {
  const reason = attempts.find(({ id }) => id === incumbent)?.reason
  return settings?.choice !== undefined && reason?.startsWith(CHOSEN) === true
}

const rounding = 1e-12

function isOpen({ state }: Deciding, attempt: ResearchAttempt, best: ResearchAttempt): boolean {
  const { id, verdict, vetoed, author, scores, family } = attempt
  if (id === best.id || vetoed !== undefined || author !== undefined || state.banned.includes(family)) return false
  if (verdict === undefined || verdict === 'failed' || scores.length === 0 || hasFailure(scores)) return false
  return brokenGuard(raceOf(state, attempt, best)) === undefined
}

function digits(value: number): string {
  return String(Number(value.toPrecision(3)))
}
