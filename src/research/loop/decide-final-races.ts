// Before a session ends: what may be better than its incumbent runs on more seeds, and the likeliest best is kept. A race is one look at a
// candidate, and what was known of the noise when it was taken was less than what is known now; and of many that were looked at, the one
// that scored best was lucky. So the choice rests on a model of all that was tried, as does what is run again.
import type { ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { brokenGuard } from '../keep/keep-rules.ts'
import { hasFailure } from '../keep/measure-gain.ts'
import { nextRaceRun } from '../keep/seed-bank.ts'
import { chosenWords } from '../keep/verdict-words.ts'
import { type AttemptModel, attemptModel } from '../surrogate/attempt-model.ts'
import { keepEntries, raceSeen, verdictEntry } from './decide-attempt.ts'
import { runsToConfirm } from './decide-test-evaluation.ts'
import { hasTimeFor } from './session-budget.ts'
import { attemptOf, raceOf, searchState } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

/** Chance of being better than what is believed best from which a candidate is worth another seed. */
const worthwhile = 0.1
/** Chance of being better than the incumbent from which a candidate takes its place. */
const convincing = 0.55
/** Runs that a session may spend on it: some in any case, and a share of its experiments. */
const runsAllowed = { least: 6, share: 0.4 }
/** Seeds without which nothing is kept. */
const leastSeeds = 2

export function decideFinalRace(deciding: Deciding): Step | undefined {
  const { state, plugins, nowMs } = deciding
  const { settings, incumbent: best } = state
  if ((settings?.rules ?? 1) < 2 || plugins.keepRule.finalRaces !== true || best === undefined) return undefined
  const incumbent = attemptOf(state, best)
  const model = attemptModel(searchState(state))
  const rivals = rivalsOf(state, model, incumbent)
  if (rivals.every(({ id }) => id === best)) return undefined // nothing to tell it from
  const used = state.attempts.reduce(
    (sum, { runs }) => sum + runs.filter(({ purpose }) => purpose === 'reevaluate').length,
    0,
  )
  const isSpent = used >= runsAllowed.least + runsAllowed.share * state.spend.experiments
  if (!isSpent && hasTimeFor(state, nowMs, 1 + runsToConfirm(deciding), plugins.asksModel)) {
    const step = runAgain(deciding, byWorth(rivals, model), incumbent)
    if (step !== undefined) return step
  }
  const likeliest = rivals.find(({ scores }) => scores.length >= leastSeeds)
  if (likeliest === undefined || likeliest.id === incumbent.id) return undefined
  const chance = model.chanceOver(likeliest.id, incumbent.id) ?? 0
  if (!(chance >= convincing)) return undefined
  const verdict = verdictEntry(state, likeliest, 'provisional', chosenWords(raceSeen(state, likeliest), chance))
  return { kind: 'write', entries: [verdict, ...keepEntries(state, plugins, likeliest.id)] }
}

// What is believed best needs the seeds without which nothing is kept; then comes what the choice between it and the likeliest gains most by.
function byWorth(rivals: readonly ResearchAttempt[], { worthOfSeed }: AttemptModel): ResearchAttempt[] {
  const [first, second] = rivals
  const worths = rivals.map(({ id }) => worthOfSeed(id, (id === first?.id ? second?.id : first?.id) ?? '') ?? 0)
  const order = rivals.map((attempt, i) => ({
    attempt,
    worth: i === 0 && attempt.scores.length < leastSeeds ? Number.POSITIVE_INFINITY : (worths[i] ?? 0),
  }))
  return order.sort((a, b) => b.worth - a.worth).map(({ attempt }) => attempt)
}

function runAgain(
  deciding: Deciding,
  rivals: readonly ResearchAttempt[],
  incumbent: ResearchAttempt,
): Step | undefined {
  const { state } = deciding
  for (const attempt of rivals) {
    const next = nextRaceRun(state.bank, attempt.scores, attempt === incumbent ? attempt.scores : incumbent.scores)
    if (next === undefined) continue
    const who = attempt === incumbent || next.who === 'incumbent' ? incumbent : attempt
    const { done, ...open } = neededRun(deciding, who, {
      seed: next.seed,
      purpose: who === incumbent ? 'refresh' : 'reevaluate',
    })
    if (done === undefined) return 'step' in open && open.step !== undefined ? open.step : { kind: 'wait' }
  }
  return undefined
}

/** The likeliest best and what may be better than it, in the order of what is believed of them. */
function rivalsOf(
  state: ResearchState,
  { best, chanceOver }: AttemptModel,
  incumbent: ResearchAttempt,
): ResearchAttempt[] {
  const able = best.flatMap(({ id }) => {
    const attempt = attemptOf(state, id)
    return id === incumbent.id || isOpen(state, attempt) ? [attempt] : []
  })
  const [first] = able
  if (first === undefined) return []
  return able.filter(({ id }) => id === first.id || (chanceOver(id, first.id) ?? 0) > worthwhile)
}

// What a person decided stands, and so do the guards of the task.
function isOpen(state: ResearchState, attempt: ResearchAttempt): boolean {
  const { banned, controls } = state
  const { origin, verdict, vetoed, author, scores, runs, family, endedAt } = attempt
  if (origin === 'ablation' || vetoed !== undefined || author !== undefined || banned.includes(family)) return false
  if (verdict === undefined || verdict === 'failed' || hasFailure(scores)) return false
  if (runs.some(({ purpose, status }) => purpose === 'reevaluate' && status !== 'scored' && status !== 'running'))
    return false
  const isGuarded = (state.settings?.secondary.length ?? 0) > 0
  if (isGuarded && brokenGuard(raceOf(state, attempt, attemptOf(state, state.incumbent ?? ''))) !== undefined)
    return false
  const drift = controls.findLast(({ drifted }) => drifted)
  return drift === undefined || (endedAt ?? '') >= drift.at
}
