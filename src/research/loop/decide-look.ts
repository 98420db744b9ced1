// Looks at the hidden split: planned when they are due, run seed by seed, concluded by the judge.
import { lookDue, planLook, stepLook } from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'
import { lookRecords, lookResults } from './race-state.ts'
import { neededRun } from './run-step.ts'
import { hasTimeFor } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import type { Deciding, Step } from './step.ts'

/** The next step of the look that is going on; undefined while all its runs are taken. */
export function decideOpenLook(deciding: Deciding): Step | undefined {
  const { state } = deciding
  const { look, settings, baseline } = state
  if (look === undefined || settings === undefined || baseline === undefined) return undefined
  const { direction, metric, unit } = settings
  const step = stepLook(look, {
    direction,
    metric,
    ...(unit === undefined ? {} : { unit }),
    champion: lookResults(state, look, look.champion),
    baseline: lookResults(state, look, baseline),
  })
  if (step.action === 'conclude') {
    const { number, reason, champion, keeps, level, p, confirmed, reported, words } = step.record
    const entry: NewEntry = {
      type: 'confirmation',
      attempt: champion,
      against: baseline,
      look: number,
      occasion: reason,
      keeps,
      level,
      p,
      confirmed,
      reason: words,
      ...(reported === undefined
        ? {}
        : {
            reported: {
              gain: reported.gain,
              n: reported.n,
              ...(reported.interval === undefined ? {} : { interval: reported.interval }),
              ...(reported.probabilityBetter === undefined ? {} : { probability_better: reported.probabilityBetter }),
            },
          }),
    }
    return { kind: 'write', entries: [entry] }
  }
  for (const seed of step.seeds) {
    for (const id of [look.champion, baseline]) {
      const open = neededRun(deciding, attemptOf(state, id), { seed, split: 'test', purpose: 'confirm' })
      if (open.done === undefined && open.step !== undefined) return open.step
    }
  }
  return undefined
}

/** The smallest number of seeds that can decide anything. */
const FEWEST_SEEDS = 3

/** A look that should be taken now. At the end it is taken only where there is time for it. */
export function decideDueLook({ state, plugins, nowMs }: Deciding, ending: boolean): Step | undefined {
  const most = plugins.keepRule.confirmSeeds
  const { incumbent, baseline, look } = state
  if (most === undefined || look !== undefined || incumbent === undefined || baseline === undefined) return undefined
  // One look at the end for each champion: looking again until it is confirmed would be no confirmation.
  if (ending && state.confirmations.some(({ attempt, occasion }) => attempt === incumbent && occasion === 'end'))
    return undefined
  const { keeps } = state.gauges
  const looks = lookRecords(state)
  const every = state.settings?.confirm_every
  const reason = lookDue({
    ...{ champion: incumbent, baseline, keeps, looks, ending, requested: state.lookRequested },
    ...(every === undefined ? {} : { every }),
  })
  if (reason === undefined) return undefined
  // Champion and baseline, seeds that decide and seeds that report. A short search is not followed by a longer look.
  const fits = (seeds: number) =>
    4 * seeds <= state.spend.runs && hasTimeFor(state, nowMs, 4 * seeds, plugins.asksModel)
  const seeds = fits(most) ? most : Math.min(most, FEWEST_SEEDS)
  if (!hasTimeFor(state, nowMs, 4 * seeds, plugins.asksModel)) return undefined
  const sessionSeed = state.settings?.seed ?? 0
  const planned = planLook({ reason, champion: incumbent, keeps, looks, seeds, sessionSeed, used: state.usedSeeds })
  return {
    kind: 'write',
    entries: [{ type: 'look.planned', ...planned, decide: [...planned.decide], report: [...planned.report] }],
  }
}
