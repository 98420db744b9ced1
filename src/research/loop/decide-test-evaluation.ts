// Metered evaluations on the test split: planned when they are due, run seed by seed, concluded by the confirmation rule.
import { planTestEvaluation, stepTestEvaluation, testEvaluationDue } from '../keep/test-evaluation.ts'
import { hasTimeFor } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf, testEvaluationsOf, testResults } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

/** The next step of the test evaluation in progress; undefined while all its runs are taken. */
export function decideOpenTestEvaluation(deciding: Deciding): Step | undefined {
  const { state, plugins, nowMs } = deciding
  const { look: planned, settings, baseline } = state
  if (planned === undefined || settings === undefined || baseline === undefined) return undefined
  const { direction, metric, unit } = settings
  const champion = testResults(state, planned, planned.champion)
  const { runs } = attemptOf(state, planned.champion)
  const isBegun = runs.some(({ purpose, seed }) => purpose === 'confirm' && planned.report.includes(seed))
  const noMore = !isBegun && !hasTimeFor(state, nowMs, 2 * planned.report.length, plugins.asksModel)
  const step = stepTestEvaluation(planned, {
    direction,
    metric,
    unit,
    champion,
    baseline: testResults(state, planned, baseline),
    noMore,
  })
  if (step.action === 'conclude') {
    const { number, reason, champion, keeps, level, seeds = [], p, better, confirmed, reported, words } = step.record
    const entry: NewEntry = {
      type: 'confirmation',
      attempt: champion,
      against: baseline,
      look: number,
      occasion: reason,
      keeps,
      level,
      seeds: [...seeds],
      p,
      confirmed,
      better,
      reason: words,
      reported,
    }
    return { kind: 'write', entries: [entry] }
  }
  for (const seed of step.seeds) {
    for (const id of [planned.champion, baseline]) {
      const open = neededRun(deciding, attemptOf(state, id), { seed, split: 'test', purpose: 'confirm' })
      if (open.done === undefined && open.step !== undefined) return open.step
    }
  }
  return undefined
}

/** The smallest number of seeds that can decide anything. */
const FEWEST_SEEDS = 3

/** Runs of the smallest test evaluation that the end of the session will want; 0 while nothing is kept that could be confirmed. */
export function runsToConfirm({ state, plugins }: Pick<Deciding, 'state' | 'plugins'>): number {
  const { incumbent, baseline, settings, confirmations } = state
  if (plugins.keepRule.confirmSeeds === undefined || settings?.hidden_test === false) return 0
  const isConfirmed = confirmations.some(
    ({ attempt, confirmed, better = confirmed }) => attempt === incumbent && better,
  )
  return incumbent === baseline || isConfirmed ? 0 : (settings?.catalog === undefined ? 4 : 2) * FEWEST_SEEDS
}

/** A test evaluation that is due. At the end it is made only where there is time for it. */
export function decideDueTestEvaluation({ state, plugins, nowMs }: Deciding, ending: boolean): Step | undefined {
  const most = plugins.keepRule.confirmSeeds
  const { incumbent, baseline, look, settings } = state
  if (settings?.hidden_test === false) return undefined
  if (most === undefined || look !== undefined || incumbent === undefined || baseline === undefined) return undefined
  // One at the end for each champion: evaluating again until it is confirmed would be no confirmation.
  if (ending && state.confirmations.some(({ attempt, occasion }) => attempt === incumbent && occasion === 'end'))
    return undefined
  const { keeps } = state.gauges
  const evaluations = testEvaluationsOf(state)
  const { lookRequested: requested } = state
  const every = settings?.confirm_every
  const now = { champion: incumbent, baseline, keeps, evaluations, ending, requested, every }
  const reason = testEvaluationDue(now)
  if (reason === undefined) return undefined
  // Champion and baseline, seeds that decide and seeds that report. A short search is not followed by a longer evaluation.
  const early = settings?.catalog !== undefined
  const times = early ? 2 : 4
  const fits = (seeds: number) =>
    4 * seeds <= state.spend.runs && hasTimeFor(state, nowMs, 4 * seeds, plugins.asksModel)
  const seeds = !early && fits(most) ? most : Math.min(most, FEWEST_SEEDS)
  if (!hasTimeFor(state, nowMs, times * seeds, plugins.asksModel)) return undefined
  const from = { sessionSeed: settings?.seed ?? 0, used: state.usedSeeds, early: early || undefined }
  const planned = planTestEvaluation({ reason, champion: incumbent, keeps, evaluations, seeds, ...from })
  return { kind: 'write', entries: [{ type: 'look.planned', ...planned }] }
}
