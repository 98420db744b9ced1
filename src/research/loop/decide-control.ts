// Control runs: the incumbent once more on a fresh seed, which races then begin with. When it has drifted, races go on over fresh
// seeds alone, so that nothing is compared with what was measured before.
import type { ResearchState } from '../../contracts/index.ts'
import { adoptControl, controlDue, freshSeeds, judgeControl } from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'
import { noiseOf } from './race-state.ts'
import { neededRun } from './run-step.ts'
import type { NewEntry } from './session-journal.ts'
import type { Deciding, Step } from './step.ts'

/** `judge`: a control run that has ended. `run`: one that is due. */
export function decideControl(deciding: Deciding, what: 'judge' | 'run'): Step | undefined {
  const { state, plugins } = deciding
  const { settings, controls, spend, gauges } = state
  if (settings === undefined || settings.control_every === 0 || plugins.keepRule.incumbent === 'kept') return undefined
  if (what === 'judge') return judge(deciding)
  const isDue = controlDue({
    experiments: spend.experiments,
    experimentsAtLast: controls.at(-1)?.experiments ?? 0,
    every: settings.control_every,
    ...(gauges.keeps > 0 && { sinceKeep: gauges.sinceKeep }),
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

function judge({ state }: Deciding): Step | undefined {
  for (const attempt of state.attempts) {
    const ended = attempt.runs.find(
      ({ purpose, status, seed }) =>
        purpose === 'control' &&
        status !== 'running' &&
        !state.controls.some((control) => control.attempt === attempt.id && control.seed === seed),
    )
    if (ended === undefined) continue
    const verdict = judgeControl({
      control: ended.value ?? null,
      incumbent: attempt.scores.filter(({ seed }) => seed !== ended.seed),
      noise: noiseOf(state),
    })
    const { drift, deviation, words } = verdict
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
