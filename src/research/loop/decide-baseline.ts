// First of all the baseline: does it run, and how much do its scores differ when nothing but the seed changes?

import type { ResearchAttempt, RunPurpose } from '../../contracts/index.ts'
import { lineCount } from './candidate-files.ts'
import { noiseOf } from './race-state.ts'
import { neededRun } from './run-step.ts'
import type { NewEntry } from './session-journal.ts'
import type { Deciding, Step } from './step.ts'

/** Id of attempt 0. */
export const BASELINE = 'baseline'

export function decideBaseline(deciding: Deciding): Step | undefined {
  const { state, busy } = deciding
  const baseline = state.attempts.find(({ id }) => id === state.baseline)
  if (baseline === undefined) return { kind: 'write', entries: [begin(deciding)] }
  if (baseline.verdict !== undefined) return undefined
  if (busy.has(`attempt:${baseline.id}`)) return { kind: 'wait' }
  if (baseline.checked === 'no') return { kind: 'check', attempt: baseline.id }
  if (baseline.checked === 'failed') return fail(baseline, baseline.failures[0])
  const { settings, bank } = state
  const wanted: { seed: number; purpose: RunPurpose }[] = bank
    .slice(0, settings?.noise_runs ?? 1)
    .map((seed) => ({ seed, purpose: 'noise' }))
  const [first] = wanted
  if (wanted.length > 1 && first !== undefined) wanted.push({ seed: first.seed, purpose: 'repeat' })
  let isRunning = false
  for (const each of wanted) {
    const { done, ...open } = neededRun(deciding, baseline, each)
    if (done === undefined) {
      if ('step' in open && open.step !== undefined) return open.step
      isRunning = true
    } else if (done.status === 'failed' && each.purpose === 'noise') return fail(baseline, done.failure)
  }
  if (isRunning) return { kind: 'wait' }
  const { seedSd } = noiseOf(state)
  const reason = `The baseline, on ${wanted.filter(({ purpose }) => purpose === 'noise').length} seeds; they differ by ${seedSd.toPrecision(2)} (one sigma).`
  return { kind: 'write', entries: [{ type: 'verdict', attempt: baseline.id, verdict: 'provisional', reason }] }
}

function begin({ state, tools }: Deciding): NewEntry {
  const knobs = tools.knobsOf(state.files, state.settings?.space ?? {})
  return {
    type: 'attempt.begun',
    attempt: BASELINE,
    number: 0,
    origin: 'baseline',
    worker: 0,
    parents: [],
    title: 'baseline',
    hypothesis: '',
    family: 'baseline',
    category: 'architectural',
    mode: 'improve',
    knobs,
    fingerprint: tools.fingerprint(state.files, knobs),
    lines: lineCount(state.files),
    files: {},
  }
}

function fail(baseline: ResearchAttempt, failure: ResearchAttempt['failures'][number] | undefined): Step {
  const reason = failure === undefined ? 'it did not run' : `${failure.class}: ${failure.reason}`
  return {
    kind: 'write',
    entries: [
      {
        type: 'verdict',
        attempt: baseline.id,
        verdict: 'failed',
        reason,
        ...(failure === undefined ? {} : { failure }),
      },
      {
        type: 'session.ended',
        reason: 'failed',
        text: `The baseline failed (${reason}): nothing can be compared with it.`,
      },
    ],
  }
}
