// The end of a session: changes that help nothing are taken out, what is left is compared with the baseline on the test split once
// more, and the end is written.
import type { Direction, EndReason, Idea, KnobValue, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'
import { unifiedDiff } from '../diff/unified-diff.ts'
import { measureGain, pairGains, type SeedResult } from '../keep/measure-gain.ts'
import { materialise } from '../propose/materialise.ts'
import { verdictEntry } from './decide-attempt.ts'
import { decideChoice, isChosen } from './decide-choice.ts'
import { decideFinalRace } from './decide-final-races.ts'
import { decideDueTestEvaluation, runsToConfirm } from './decide-test-evaluation.ts'
import { hasTimeFor } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf, changesBetween, filesOf, lineCount, noiseOf } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

/** The end that a cap forces while something is still raced. */
export function endedByCap(state: ResearchState, reason: EndReason): NewEntry {
  return { type: 'session.ended', reason, text: endText(state, reason) }
}

export function decideEnd(deciding: Deciding, reason: EndReason): Step {
  if (reason === 'failed') return ended(deciding.state, reason)
  // What was chosen for its price need not be the likeliest best: the races are over.
  const choosing = isChosen(deciding.state)
    ? undefined
    : (decideFinalRace(deciding) ?? decideAblation(deciding) ?? decideChoice(deciding))
  return choosing ?? decideDueTestEvaluation(deciding, true) ?? ended(deciding.state, reason)
}

function ended(state: ResearchState, reason: EndReason): Step {
  return { kind: 'write', entries: [{ type: 'session.ended', reason, text: endText(state, reason) }] }
}

const REASONS: Readonly<Record<EndReason, string>> = {
  experiments: 'All experiments of the budget were made.',
  runs: 'All runs of the budget were made.',
  wall: 'The time of the budget is used up.',
  tokens: 'The tokens of the budget are used up.',
  usd: 'The money of the budget is used up.',
  finished: 'The proposer has nothing new.',
  failed: 'The proposer fails again and again.',
}

function endText(state: ResearchState, reason: EndReason): string {
  const champion = state.incumbent === undefined ? undefined : attemptOf(state, state.incumbent)
  const failed = state.calls.length === 0 || reason !== 'failed' ? '' : ` ${sentence(state.notices.at(-1) ?? '')}`
  if (champion?.id === state.baseline && isChosen(state)) return `${REASONS[reason]}${failed} ${champion?.reason ?? ''}`
  if (champion === undefined || champion.id === state.baseline)
    return `${REASONS[reason]}${failed} Nothing was kept: the baseline stands.`
  const whyNot = state.settings?.catalog === undefined ? NOT_CONFIRMED : NO_TEST
  const open = state.settings?.hidden_test === false ? ` ${whyNot}` : ''
  const why = `${champion.confirmation?.reason ?? champion.reason ?? ''}${open}`
  return `${REASONS[reason]}${failed} Best: ${champion.id}, ${chainText(state)}. ${why}`.trim()
}

// The gain over the baseline is that of all kept steps together, not of the last alone.
function chainText(state: ResearchState): string {
  const steps = state.kept.filter((id) => id !== state.baseline).map((id) => attemptOf(state, id))
  const last = steps.at(-1)?.title ?? ''
  return steps.length < 2
    ? `one kept step (${last})`
    : `${steps.length} kept steps together (${steps.map(({ id }) => id).join(', ')}; the last: ${last})`
}

/** Of a task that is a table of finished trainings. */
const NOT_CONFIRMED =
  'It is not confirmed: the task is a table, which has neither fresh seeds nor a hidden test set, so this is the best that was found in it and may be the luck of its entries.'

/** Of an experiment file without a test benchmark. */
const NO_TEST =
  'It is not confirmed: the file has no test benchmark with its metric, so nothing but what selected it says that it is better.'

function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`
}

// Half of what a search keeps helps nothing. At the end every kept change is left out of the incumbent once; what is not missed goes.
function decideAblation(deciding: Deciding): Step | undefined {
  const { state, plugins, nowMs } = deciding
  if (plugins.keepRule.confirmSeeds === undefined || state.incumbent === undefined) return undefined
  const open = state.attempts.find(({ origin, verdict }) => origin === 'ablation' && verdict === undefined)
  if (open !== undefined) return ablate(deciding, open)
  const stack = stackOf(state)
  if (stack.length < 2) return undefined
  const change = stack.find(({ ablation }) => ablation === undefined)
  const runs = 2 * ablationSeeds + runsToConfirm(deciding)
  if (change === undefined || !hasTimeFor(state, nowMs, runs, plugins.asksModel)) return undefined
  return { kind: 'write', entries: [begin(deciding, change)] }
}

/** Most runs that are kept back for it: a long stack is ablated as far as there is room. */
const mostAblations = 6

/** Runs that leaving out each change of the incumbent once will take; sessions over experiment files keep room for some. */
export function runsToAblate({ state, plugins }: Pick<Deciding, 'state' | 'plugins'>): number {
  if (plugins.keepRule.confirmSeeds === undefined || state.settings?.catalog === undefined) return 0
  const open = stackOf(state).filter(({ ablation }) => ablation === undefined).length
  return stackOf(state).length < 2 ? 0 : Math.min(mostAblations, ablationSeeds * open)
}

/** Changes that the incumbent is made of, first to last. A search also builds on what it discarded: that is part of it. */
function stackOf(state: ResearchState): ResearchAttempt[] {
  return lineOf(state, state.incumbent).filter(
    ({ origin, ablation }) => origin !== 'ablation' && ablation?.dropped !== true,
  )
}

/** An attempt and all that it was built on down to the baseline, first to last. */
function lineOf(state: ResearchState, last: string | undefined): ResearchAttempt[] {
  const line: ResearchAttempt[] = []
  for (let id = last; id !== undefined && id !== state.baseline; id = line[0]?.parents[0])
    line.unshift(attemptOf(state, id))
  return line
}

function begin({ state, fingerprint }: Deciding, change: ResearchAttempt): NewEntry {
  const incumbent = attemptOf(state, state.incumbent ?? '')
  const files = filesOf(state, incumbent.id)
  const undo = undoing(state, change, incumbent)
  const made = materialise({ change: undo }, files, state.settings)
  if ('failures' in made) {
    const isGone = undo.kind === 'knobs' && Object.keys(undo.knobs).length === 0
    const reason = isGone
      ? 'Nothing of it is left: later changes took its place.'
      : 'Stays: it cannot be taken out alone.'
    return { type: 'ablation', attempt: change.id, without: incumbent.id, dropped: false, reason }
  }
  const number = state.attempts.length
  return {
    type: 'attempt.begun',
    attempt: `a${number}`,
    number,
    origin: 'ablation',
    worker: 0,
    parents: [incumbent.id, change.id],
    title: `without ${change.id}: ${change.title}`,
    hypothesis: `${change.id} may help nothing by now.`,
    family: change.family,
    category: change.category,
    mode: 'ablate',
    knobs: made.knobs,
    fingerprint: fingerprint(made.files, made.knobs),
    lines: lineCount(made.files, state.settings?.catalog?.document),
    files: changesBetween(files, made.files),
  }
}

// Knobs that were not turned later go back to what they were when something was last kept; code goes back by the reverse of its diff.
function undoing(state: ResearchState, change: ResearchAttempt, incumbent: ResearchAttempt): Idea['change'] {
  if (change.idea?.change.kind !== 'knobs') {
    const before = filesOf(state, change.parents[0] ?? state.baseline ?? '')
    return { kind: 'patch', patch: unifiedDiff(filesOf(state, change.id), before) || ' ' }
  }
  const line = lineOf(state, incumbent.id)
  const foundation = lineOf(state, change.parents[0]).findLast(({ id }) => state.kept.includes(id))
  const { knobs: before } = attemptOf(state, foundation?.id ?? state.baseline ?? '')
  const back = Object.keys(change.idea.change.knobs).flatMap((name): [string, KnobValue][] => {
    const value = before[name]
    const isLast = line.findLast(({ idea }) => idea?.change.kind === 'knobs' && name in idea.change.knobs) === change
    return value === undefined || !isLast || value === incumbent.knobs[name] ? [] : [[name, value]]
  })
  return { kind: 'knobs', knobs: Object.fromEntries(back) }
}

function ablate(deciding: Deciding, attempt: ResearchAttempt): Step {
  const { state, busy } = deciding
  const incumbent = attemptOf(state, state.incumbent ?? '')
  const changed = attempt.parents[1] ?? ''
  if (busy.has(`attempt:${attempt.id}`)) return { kind: 'wait' }
  if (attempt.checked === 'no') return { kind: 'check', attempt: attempt.id }
  const seeds = attempt.checked === 'failed' ? [] : state.bank.slice(0, ablationSeeds)
  const ablated: SeedResult[] = []
  for (const seed of seeds) {
    if (!incumbent.scores.some((score) => score.seed === seed)) {
      const refreshed = neededRun(deciding, incumbent, { seed, purpose: 'refresh' })
      if (refreshed.done === undefined) return refreshed.step ?? { kind: 'wait' }
    }
    const run = neededRun(deciding, attempt, { seed, purpose: 'ablate' })
    if (run.done === undefined) return run.step ?? { kind: 'wait' }
    ablated.push({ seed, value: run.done.value ?? null, items: run.done.items })
  }
  const { z, drop, words } = assessAblation({
    direction: state.settings?.direction ?? 'min',
    ablated,
    champion: incumbent.scores,
    sigma: noiseOf(state).sigma,
    linesSaved: incumbent.lines - attempt.lines,
  })
  const verdict = verdictEntry(state, attempt, drop ? 'provisional' : 'discarded', words)
  const { typical_gain: _, ...ablatedVerdict } = verdict // ablations say nothing of what ideas gain
  const entries: NewEntry[] = [
    { type: 'ablation', attempt: changed, without: attempt.id, dropped: drop, reason: words, z },
    ablatedVerdict,
  ]
  if (drop) entries.push({ type: 'kept', attempt: attempt.id, before: incumbent.id })
  return { kind: 'write', entries }
}

/** Sigmas from which their number says nothing: the task has no noise to count in. */
const beyondCounting = 1000

/** Seeds of every run of an ablation: the first of the bank. */
const ablationSeeds = 2

/**
 * Assesses one change by the scores of the stack without it. What could not be measured stays. `z`: how much worse the stack is without
 * the change, in standard errors; undefined when a run is missing.
 */
export function assessAblation(options: {
  readonly direction: Direction
  readonly ablated: readonly SeedResult[]
  readonly champion: readonly SeedResult[]
  readonly sigma: number
  /** Lines of code that leaving it out saves; below zero it would add some. */
  readonly linesSaved: number
}): { readonly z: number | undefined; readonly drop: boolean; readonly words: string } {
  const { direction, ablated, champion, sigma, linesSaved } = options
  const losses = pairGains(direction, champion, ablated)
  if (losses.length < ablationSeeds || losses.length < ablated.length) {
    return { z: undefined, drop: false, words: 'Stays: the stack did not run without it.' }
  }
  const pairs = champion.filter(({ seed }) => ablated.some((each) => each.seed === seed))
  const lost = measureGain({ direction, candidate: pairs, incumbent: ablated, noise: { sigma, degreesOfFreedom: 0 } })
  const z = (meanOf(losses) * Math.sqrt(losses.length)) / (lost?.sigma ?? sigma)
  const size = Math.abs(z) >= beyondCounting ? 'far' : `${Math.abs(z).toFixed(1)} sigma`
  const measured = `${size} ${z < 0 ? 'better' : 'worse'} without it on ${losses.length} seeds`
  if (z >= 0.5) return { z, drop: false, words: `Stays: ${measured}.` }
  // Better without it by as much: it does harm, however long the code.
  if (z <= -0.5) return { z, drop: true, words: `Dropped: ${measured}.` }
  return linesSaved > 0
    ? { z, drop: true, words: `Dropped: ${measured}, ${linesSaved} lines fewer.` }
    : { z, drop: false, words: `Stays: ${measured}, and no line would be saved.` }
}
