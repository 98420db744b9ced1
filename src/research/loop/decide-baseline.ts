// What everything is compared with. First of all the baseline: does it run, and how much do its scores differ when nothing but the seed
// changes? Later control runs: the incumbent once more on a fresh seed, which races then begin with. When it has drifted, races use
// fresh seeds alone, so that nothing is compared with what was measured before.
import type { ResearchAttempt, ResearchState, RunPurpose } from '../../contracts/index.ts'
import { knobsOf } from '../experiments/edits/known-knobs.ts'
import { assessControl, controlDue } from '../keep/control-runs.ts'
import { adoptControl, freshSeeds } from '../keep/seed-bank.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf, lineCount, noiseOf } from './session-views.ts'
import { type Deciding, neededRun, type Step } from './step.ts'

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
  // Trainings of one seed on one engine are equal to the byte.
  const isMeasured = wanted.length > 1 && settings?.catalog === undefined
  if (isMeasured && first !== undefined) wanted.push({ seed: first.seed, purpose: 'repeat' })
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
  const values = new Set(baseline.scores.map(({ value }) => value))
  const spread = values.size === 1 ? 'they score the same' : `they differ by ${seedSd.toPrecision(2)} (one sigma)`
  const reason = `The baseline, on ${wanted.filter(({ purpose }) => purpose === 'noise').length} seeds; ${spread}.`
  return { kind: 'write', entries: [{ type: 'verdict', attempt: baseline.id, verdict: 'provisional', reason }] }
}

function begin({ state, fingerprint }: Deciding): NewEntry {
  const { knobs } = knobsOf(state.files, state.settings ?? {})
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
    fingerprint: fingerprint(state.files, knobs),
    lines: lineCount(state.files, state.settings?.catalog?.document),
    files: {},
  }
}

function fail(baseline: ResearchAttempt, failure: ResearchAttempt['failures'][number] | undefined): Step {
  const reason = failure === undefined ? 'it did not run' : `${failure.class}: ${failure.reason}`
  const text = `The baseline failed (${reason}): nothing can be compared with it.`
  return {
    kind: 'write',
    entries: [
      { type: 'verdict', attempt: baseline.id, verdict: 'failed', reason, failure },
      { type: 'session.ended', reason: 'failed', text },
    ],
  }
}

/** `assess`: a control run that has ended. `run`: one that is due. */
export function decideControl(deciding: Deciding, what: 'assess' | 'run'): Step | undefined {
  const { state, plugins } = deciding
  const { settings, controls, spend, gauges } = state
  if (settings === undefined || settings.control_every === 0 || plugins.keepRule.incumbent === 'kept') return undefined
  if (what === 'assess') return assess(deciding)
  const isDue = controlDue({
    experiments: spend.experiments,
    experimentsAtLast: controls.at(-1)?.experiments ?? 0,
    every: settings.control_every,
    sinceKeep: gauges.keeps > 0 ? gauges.sinceKeep : undefined,
  })
  if (!isDue) return undefined
  const seed = controlSeed(deciding)
  const open = neededRun(deciding, attemptOf(state, state.incumbent ?? ''), { seed, purpose: 'control' })
  return open.done === undefined ? open.step : undefined
}

function controlSeed({ state }: Deciding): number {
  const { settings, controls, attempts, usedSeeds } = state
  const running = attempts
    .flatMap(({ runs }) => runs)
    .find(({ purpose, status }) => purpose === 'control' && status === 'running')
  if (running !== undefined) return running.seed
  const path = ['control', controls.length + 1]
  return freshSeeds({ sessionSeed: settings?.seed ?? 0, path, count: 1, used: usedSeeds })[0] ?? 0
}

function assess({ state }: Deciding): Step | undefined {
  for (const attempt of state.attempts) {
    const ended = attempt.runs.find(
      ({ purpose, status, seed }) =>
        purpose === 'control' &&
        status !== 'running' &&
        !state.controls.some((control) => control.attempt === attempt.id && control.seed === seed),
    )
    if (ended === undefined) continue
    const { drift, deviation, words } = assessControl({
      control: ended.value ?? null,
      incumbent: attempt.scores.filter(({ seed }) => seed !== ended.seed),
      noise: noiseOf(state),
    })
    return {
      kind: 'write',
      entries: [
        {
          type: 'control.finished',
          attempt: attempt.id,
          seed: ended.seed,
          deviation: Number.isFinite(deviation) ? deviation : null,
          drifted: drift,
          experiments: state.spend.experiments,
          reason: words,
        },
        ...(drift ? [{ type: 'notice' as const, text: words }] : adopted(state, attempt.id, ended.seed)),
      ],
    }
  }
  return undefined
}

function adopted({ incumbent, bank, drifted }: ResearchState, attempt: string, seed: number): NewEntry[] {
  if (attempt !== incumbent || drifted) return []
  return [{ type: 'incumbent.refreshed', attempt, bank: [...adoptControl(bank, seed)] }]
}

/** After drift: a bank of seeds on which nothing was measured yet. */
export function decideDrift({ state }: Deciding): Step | undefined {
  if (!state.drifted || state.incumbent === undefined) return undefined
  const { settings, bank, controls, usedSeeds } = state
  const path = ['drift', controls.length]
  const fresh = freshSeeds({ sessionSeed: settings?.seed ?? 0, path, count: bank.length, used: usedSeeds })
  return { kind: 'write', entries: [{ type: 'incumbent.refreshed', attempt: state.incumbent, bank: [...fresh] }] }
}
