// The live view of a run as a pure fold over its events, shared by terminal and dashboard: a replay shows what was live.
// Events of one stream are numbered without gaps. A repeated event changes nothing; one that arrives early waits in
// `pending` until the gap before it closes, so any order of arrival ends in the same state. A new attempt and a guard's
// roll-back take back the evaluations and checkpoints of the steps that are done again; counts and log keep all work done.
import type { ErrorRecord } from './error.ts'
import type { RunEvent, RunStatus } from './events.ts'
import type { LogLevel } from './plugin.ts'
import type { Bounds, Metrics } from './quantity.ts'
import { failureError } from './research-attempt.ts'
import type { CheckpointKind } from './training-service.ts'

/** An evaluation; without `step` it was made after training. */
export interface EvalView {
  benchmark: string
  split: 'val' | 'test'
  step?: number | undefined
  metrics: Metrics
  bounds?: Bounds | undefined
  n_tasks: number
  n_infra_failed: number
  error?: ErrorRecord | undefined
}

/** Weights that were saved. */
export interface CheckpointView {
  step: number
  kind: CheckpointKind
  ref: string
  final: boolean
}

/** A run as people watch it. Plain data: it survives JSON, and folding continues from there. */
export interface RunState {
  run_id?: string | undefined
  status: RunStatus
  seq: number
  attempt: number
  step?: number | undefined
  num_steps?: number | undefined
  metrics: Metrics
  evals: readonly EvalView[]
  running_evals: number
  checkpoints: readonly CheckpointView[]
  best_step?: number | undefined
  n_rows?: number | undefined
  n_rollouts: number
  /** Rollouts with an error, those of infrastructure among them. */
  n_failed_rollouts: number
  n_infra_failed_rollouts: number
  guards: number
  notices: readonly string[]
  log: readonly { level: LogLevel; text: string }[]
  error?: ErrorRecord | undefined
  started_at?: string | undefined
  finished_at?: string | undefined
  cost_usd?: number | undefined
  tokens?: number | undefined
  wall_s?: number | undefined
  pending: readonly RunEvent[]
}

/** State before the first event. */
export const initialRunState: RunState = Object.freeze({
  status: 'pending',
  seq: 0,
  attempt: 0,
  metrics: {},
  evals: [],
  running_evals: 0,
  checkpoints: [],
  n_rollouts: 0,
  n_failed_rollouts: 0,
  n_infra_failed_rollouts: 0,
  guards: 0,
  notices: [],
  log: [],
  pending: [],
})

// A screenful or two: the whole log is in the run's folder.
const LOG_TAIL = 200

/** The state after one more event. */
export function reduceRun(state: RunState, event: RunEvent): RunState {
  if (event.seq <= state.seq || state.pending.some((waiting) => waiting.seq === event.seq)) return state
  if (event.seq > state.seq + 1) {
    return { ...state, pending: [...state.pending, event].sort((a, b) => a.seq - b.seq) }
  }
  let next = apply(state, event)
  let taken = 0
  for (const waiting of state.pending) {
    if (waiting.seq !== next.seq + 1) break
    next = apply(next, waiting)
    taken++
  }
  return taken === 0 ? next : { ...next, pending: state.pending.slice(taken) }
}

function apply(state: RunState, event: RunEvent): RunState {
  return { ...state, ...change(state, event), seq: event.seq, run_id: event.run_id }
}

function change(state: RunState, event: RunEvent): Partial<RunState> {
  switch (event.type) {
    case 'run.started':
      return {
        ...takeBack(state, event.resumed_from_step),
        status: 'running',
        attempt: event.attempt,
        num_steps: event.num_steps,
        started_at: state.started_at ?? event.at,
        running_evals: 0,
        error: undefined,
        best_step: undefined,
        finished_at: undefined,
        cost_usd: undefined,
        tokens: undefined,
        wall_s: undefined,
      }
    case 'data.loaded':
      return { n_rows: event.n_rows }
    case 'step.finished':
      return { step: event.step, metrics: { ...state.metrics, ...event.metrics } }
    case 'checkpoint.saved': {
      const { step, kind, ref, final } = event
      const others = state.checkpoints.filter((old) => old.step !== step || old.kind !== kind || old.final !== final)
      return { checkpoints: [...others, { step, kind, ref, final }] }
    }
    case 'checkpoint.dropped':
      return {
        checkpoints: state.checkpoints.filter(({ step, kind }) => step !== event.step || kind !== event.kind),
      }
    case 'eval.started':
      return { running_evals: state.running_evals + 1 }
    case 'eval.finished': {
      const { benchmark, split, step, metrics, bounds, n_tasks, n_infra_failed, error } = event
      const others = state.evals.filter(
        (old) => old.benchmark !== benchmark || old.split !== split || old.step !== step,
      )
      return {
        running_evals: Math.max(0, state.running_evals - 1),
        evals: [...others, { benchmark, split, step, metrics, bounds, n_tasks, n_infra_failed, error }],
      }
    }
    case 'rollout.finished':
      return {
        n_rollouts: state.n_rollouts + 1,
        n_failed_rollouts: state.n_failed_rollouts + (event.error === undefined ? 0 : 1),
        n_infra_failed_rollouts: state.n_infra_failed_rollouts + (event.error?.infra ? 1 : 0),
      }
    case 'guard.tripped':
      return {
        guards: state.guards + 1,
        ...(event.rolled_back_to === undefined && event.action !== 'roll_back'
          ? {}
          : takeBack(state, event.rolled_back_to)),
      }
    case 'notice':
      return { notices: [...state.notices, event.text] }
    case 'log':
      return { log: [...state.log, { level: event.level, text: event.text }].slice(-LOG_TAIL) }
    case 'run.finished':
      return {
        status: event.status,
        error: event.error ?? (event.failure && failureError(event.failure)),
        metrics: { ...state.metrics, ...event.metrics },
        best_step: event.best_step,
        finished_at: event.at,
        cost_usd: event.cost_usd,
        tokens: event.tokens,
        wall_s: event.wall_s,
        running_evals: 0,
      }
  }
}

/** What holds again when training resumes after `step`; undefined: it starts over. */
function takeBack(state: RunState, step: number | undefined): Partial<RunState> {
  if (step === undefined) return { step: undefined, metrics: {}, evals: [], checkpoints: [] }
  return {
    step,
    evals: state.evals.filter((old) => old.step === undefined || old.step <= step),
    checkpoints: state.checkpoints.filter((old) => old.step <= step),
  }
}
