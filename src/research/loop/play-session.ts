// A session in memory: every decision of the loop over its journal, with runs that are looked up in place of an executor and a proposer
// that answers at once. No record, no clock, one worker. It shows what a whole session ends with, as often as a bench wants to ask.
import {
  type Brief,
  type CandidateFiles,
  initialResearchState,
  type Knobs,
  type ResearchEntry,
  type ResearchState,
  type RunOutcome,
  reduceResearch,
  type SessionSettings,
} from '../../contracts/index.ts'
import { EvsysError, type PluginServices } from '../../kernel/index.ts'
import { decide } from './decide.ts'
import { requestOf } from './decide-call.ts'
import { equipSession, type SessionPlugins } from './research-options.ts'
import type { NewEntry } from './session-journal.ts'
import { filesOf, searchState } from './session-views.ts'
import type { AskStep, RunStep, Step } from './step.ts'

type PlayedRun = Extract<RunOutcome, { status: 'scored' | 'failed' }>

interface PlayOptions {
  readonly settings: SessionSettings
  readonly files: CandidateFiles
  readonly services: Pick<PluginServices, 'registry' | 'signal'>
  fingerprint(files: CandidateFiles, knobs: Knobs): string
  /** A candidate on a seed: what the executor and the scorer would say. */
  run(candidate: { readonly files: CandidateFiles; readonly knobs: Knobs }, at: RunStep): PlayedRun
}

/** What a session would end with when its budget were so many experiments, for each of some budgets in rising order. */
export async function playSession(options: PlayOptions, budgets: readonly number[]): Promise<ResearchState[]> {
  const { settings, files, services } = options
  const quiet = { ...services, log: () => {}, secret: () => '' }
  const plugins = equipSession(settings, quiet)
  const ends: ResearchState[] = []
  let state = fold(initialResearchState, [
    { type: 'session.begun', settings: withCap(settings, undefined), files: { ...files } },
  ])
  for (const experiments of budgets) {
    state = await playUntil(options, plugins, state, experiments)
    ends.push(await playUntil(options, plugins, capped(state, experiments), Number.POSITIVE_INFINITY))
  }
  return ends
}

// Without a cap a session never ends, so it stands still where the last experiment was judged: from there it may end, or not.
async function playUntil(
  options: PlayOptions,
  plugins: SessionPlugins,
  from: ResearchState,
  experiments: number,
): Promise<ResearchState> {
  let state = from
  const { fingerprint, services } = options
  while (state.status === 'running') {
    services.signal.throwIfAborted()
    const isJudged = state.attempts.every(({ verdict }) => verdict !== undefined)
    const step = decide({ state, plugins, nowMs: 0, busy: new Set(), fingerprint })
    if (step.kind === 'ask' && isJudged && state.spend.experiments >= experiments) return state
    state = fold(state, await perform(options, plugins, state, step))
  }
  return state
}

async function perform(
  options: PlayOptions,
  plugins: SessionPlugins,
  state: ResearchState,
  step: Step,
): Promise<readonly NewEntry[]> {
  switch (step.kind) {
    case 'write':
      return step.entries
    case 'check':
      return [
        { type: 'check.intended', attempt: step.attempt },
        { type: 'attempt.checked', attempt: step.attempt, failures: [] },
      ]
    case 'ask':
      return await ask(plugins, state, step, options.services.signal)
    case 'run':
      return runEntries(options, state, step)
    case 'wait':
      throw new EvsysError('INTERNAL', 'the session waits, and nothing is in progress')
  }
}

async function ask(
  plugins: SessionPlugins,
  before: ResearchState,
  { intent }: AskStep,
  signal: AbortSignal,
): Promise<readonly NewEntry[]> {
  const state = fold(before, [intent])
  const call = state.calls.find((each) => each.call === intent.call)
  if (call === undefined) return [intent]
  const request = requestOf(call)
  const files = filesOf(state, request.parents[0] ?? state.incumbent ?? '')
  const brief: Brief = { call: intent.call, text: '', request, state: searchState(state), files }
  const { ideas } = await plugins.propose(brief, [intent.call], signal)
  return [intent, { type: 'call.answered', call: intent.call, ideas: [...ideas] }]
}

function runEntries({ run }: PlayOptions, state: ResearchState, step: RunStep): readonly NewEntry[] {
  const { kind: _kind, ...intent } = step
  const knobs = state.attempts.find(({ id }) => id === step.attempt)?.knobs ?? {}
  const outcome = run({ files: filesOf(state, step.attempt), knobs }, step)
  const recorded =
    outcome.status === 'failed'
      ? { status: 'failed' as const, failure: outcome.failure }
      : {
          status: 'scored' as const,
          value: outcome.value,
          secondary: outcome.secondary,
          items: outcome.items === 'fresh' || outcome.items === undefined ? outcome.items : [...outcome.items],
        }
  return [
    { type: 'run.intended', ...intent },
    { type: 'run.finished', ...intent, outcome: recorded, wall_s: outcome.wallS },
  ]
}

const at = new Date(0).toISOString()

function fold(state: ResearchState, entries: readonly NewEntry[]): ResearchState {
  return entries.reduce((folded, entry) => reduceResearch(folded, { ...entry, at } as ResearchEntry), state) // one of its kinds, with its time
}

function capped(state: ResearchState, experiments: number): ResearchState {
  return state.settings === undefined ? state : { ...state, settings: withCap(state.settings, experiments) }
}

function withCap(settings: SessionSettings, experiments: number | undefined): SessionSettings {
  return { ...settings, budget: { experiments } }
}
