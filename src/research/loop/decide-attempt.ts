// One candidate on its way: checked, repaired at most twice, raced seed by seed against the incumbent, decided by the keep rule.
import type { AttemptFailure, AttemptVerdict, RaceStep, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { updateTypicalGain } from '../../stats/index.ts'
import { gainInNoise, gainOfRace, pairGains } from '../keep/measure-gain.ts'
import { freshSeeds, nextRaceRun, refreshBank } from '../keep/seed-bank.ts'
import type { RaceSeen } from '../keep/verdict-words.ts'
import { failedText, repairCall } from './decide-call.ts'
import type { SessionPlugins } from './research-options.ts'
import { capOnCall } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf, noiseOf, raceOf, typicalGainOf } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

const MOST_REPAIRS = 2

/** The next step of an open attempt; undefined while it waits for other work. */
export function decideAttempt(deciding: Deciding, attempt: ResearchAttempt): Step | undefined {
  if (attempt.origin === 'ablation') return undefined // the end of the session sees to them
  if (attempt.checked === 'no') return { kind: 'check', attempt: attempt.id }
  if (attempt.checked === 'failed') return repairOrPark(deciding, attempt)
  const broken = attempt.runs.find(({ status, purpose }) => status === 'failed' && purpose === 'race')
  const again = attempt.runs.find(({ run }) => run === `${broken?.run}-again`)
  const failure = again?.failure ?? broken?.failure
  if (
    failure !== undefined &&
    (broken?.failure?.class !== 'infra' || broken.failure.again === false || again?.status === 'failed')
  ) {
    return concluded(deciding.state, attempt, 'failed', failedText(failure), failure)
  }
  const killed = attempt.runs.find(({ status, purpose }) => status === 'killed' && purpose === 'race')
  if (killed === undefined) return race(deciding, attempt)
  const reason = `Discarded: ${killed.ended ?? 'ended early, its training curve fell too far behind'}.`
  return concluded(deciding.state, attempt, 'discarded', reason)
}

function repairOrPark(deciding: Deciding, attempt: ResearchAttempt): Step | undefined {
  const [failure] = attempt.failures
  const isCode = attempt.idea !== undefined && attempt.idea.change.kind !== 'knobs'
  const call = deciding.state.calls.findLast(({ intent }) => intent.attempt === attempt.id)
  if (call !== undefined && (call.status === 'open' || !call.used)) return undefined // its answer comes, or is read next
  const isRefused = call?.status === 'failed'
  const isWanted = isCode && !isRefused && attempt.repairs < MOST_REPAIRS && attempt.origin === 'proposer'
  if (isWanted) {
    const call = repairCall(deciding, attempt)
    if (capOnCall(deciding.state, call.intent.forecast) === undefined) return call
  }
  return concluded(deciding.state, attempt, 'failed', failedText(failure), failure)
}

function race(deciding: Deciding, attempt: ResearchAttempt): Step | undefined {
  const { state, plugins } = deciding
  const incumbent = attemptOf(state, state.incumbent ?? '')
  const step = plugins.decide(raceOf(state, attempt, incumbent), [attempt.number, attempt.scores.length])
  if (step.action !== 'run') return conclude(deciding, attempt, step)
  const isKept = plugins.keepRule.incumbent === 'kept'
  const next = isKept ? firstUnrun(state, attempt) : nextRaceRun(state.bank, attempt.scores, incumbent.scores)
  if (next === undefined) {
    return concluded(state, attempt, 'inconclusive', 'Inconclusive: all seeds of the race were run.')
  }
  // What moves with the load of the machine is compared with what was measured just now.
  const isTimed = state.settings?.timed === true && next.who === 'candidate' && !isKept
  const beside = isTimed
    ? neededRun(deciding, incumbent, { seed: next.seed, purpose: 'refresh', beside: attempt.id })
    : undefined
  if (beside !== undefined && beside.done === undefined) return beside.step
  const { done, ...open } =
    next.who === 'candidate'
      ? neededRun(deciding, attempt, { seed: next.seed, purpose: 'race' })
      : neededRun(deciding, incumbent, { seed: next.seed, purpose: 'refresh' })
  if (done === undefined) return 'step' in open ? open.step : undefined
  // The incumbent fails on this seed: another one takes its place.
  const { settings, bank, usedSeeds } = state
  const [fresh = next.seed + 1] = freshSeeds({
    sessionSeed: settings?.seed ?? 0,
    path: ['instead', next.seed],
    count: 1,
    used: usedSeeds,
  })
  const renewed = bank.map((seed) => (seed === next.seed ? fresh : seed))
  return { kind: 'write', entries: [{ type: 'incumbent.refreshed', attempt: incumbent.id, bank: renewed }] }
}

function firstUnrun({ bank }: ResearchState, { scores }: ResearchAttempt) {
  const seed = bank.find((each) => !scores.some((score) => score.seed === each))
  return seed === undefined ? undefined : { who: 'candidate' as const, seed }
}

function conclude(
  { state, plugins }: Deciding,
  attempt: ResearchAttempt,
  { action, reason }: Exclude<RaceStep, { action: 'run' }>,
): Step {
  const verdict = action === 'keep' ? 'provisional' : action === 'discard' ? 'discarded' : 'inconclusive'
  const kept = action === 'keep' ? keepEntries(state, plugins, attempt.id) : []
  return { kind: 'write', entries: [verdictEntry(state, attempt, verdict, reason), ...kept] }
}

function concluded(
  state: ResearchState,
  attempt: ResearchAttempt,
  verdict: AttemptVerdict,
  reason: string,
  failure?: AttemptFailure,
): Step {
  return { kind: 'write', entries: [verdictEntry(state, attempt, verdict, reason, failure)] }
}

/** What is known of a candidate beside the incumbent, for words. */
export function raceSeen(state: ResearchState, attempt: ResearchAttempt): RaceSeen {
  const incumbent = attemptOf(state, state.incumbent ?? '')
  const pairs = pairGains(state.settings?.direction ?? 'min', attempt.scores, incumbent.scores)
  return { pairs, gain: gainOfRace(raceOf(state, attempt, incumbent)) }
}

/** A verdict with the numbers behind it. */
export function verdictEntry(
  state: ResearchState,
  attempt: ResearchAttempt,
  verdict: AttemptVerdict,
  reason: string,
  failure?: AttemptFailure,
) {
  const { pairs, gain } = raceSeen(state, attempt)
  const kept = verdict === 'provisional' && gain !== undefined ? gainInNoise(gain, noiseOf(state)) : null
  return {
    type: 'verdict' as const,
    attempt: attempt.id,
    verdict,
    reason,
    typical_gain: updateTypicalGain(typicalGainOf(state), kept),
    gain,
    pairs: gain && [...pairs],
    failure,
  }
}

/** An attempt becomes the incumbent. The bank of seeds is refreshed, because it won on those it was lucky on. */
export function keepEntries(state: ResearchState, { keepRule }: SessionPlugins, attempt: string): NewEntry[] {
  const kept: NewEntry = { type: 'kept', attempt, before: state.incumbent ?? attempt }
  if (keepRule.incumbent === 'kept') return [kept]
  const { bank, settings, gauges, usedSeeds: used } = state
  const refreshed = refreshBank({ bank, sessionSeed: settings?.seed ?? 0, number: gauges.keeps + 1, used })
  return [kept, { type: 'incumbent.refreshed', attempt, bank: refreshed }]
}
