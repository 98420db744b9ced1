// Runs of a session in the tables of the record, so that `history`, `show` and `compare` see them. Everything here follows from the
// journal and may be done again: what the journal says and the tables lack after a crash is written when the session is resumed.
import {
  type Candidate,
  type CandidateFailure,
  failureError,
  type PlannedRun,
  type ResearchAttempt,
  type ResearchEntryOf,
  type ResearchState,
  type RunEvent,
  type RunNotes,
  type RunRow,
  type TrainingRecord,
} from '../../contracts/index.ts'
import { type Clock, hashOf, type Ids } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { unifiedDiff } from '../diff/unified-diff.ts'
import type { BesideEntry } from './session-journal.ts'
import { attemptOf, filesOf, PEAK_MEMORY } from './session-views.ts'
import type { RunStep } from './step.ts'

/** Benchmarks under which scores are kept. */
export const BENCHMARKS = { val: 'val', test: 'test' } as const

type FinishedRun = Omit<ResearchEntryOf<'run.finished'>, 'at'>

export type RunRecorder = ReturnType<typeof createRunRecorder>

interface RecorderOptions {
  readonly clock: Clock
  readonly ids: Ids
  /** Candidates are trainings: their events are written by those who train. */
  readonly trainings?: TrainingRecord | undefined
}

export function createRunRecorder(store: OpenStore, experimentId: string, { clock, ids, trainings }: RecorderOptions) {
  let rows: Map<string, RunRow> | undefined
  const added = new Map<string, string>() // ids by name, of runs whose rows were not read yet
  const rowOf = async (run: string): Promise<RunRow | undefined> => {
    const known = rows?.get(run)
    if (known !== undefined) return known
    const id = added.get(run)
    const row = rows === undefined || id === undefined ? undefined : await store.run(id)
    if (row !== undefined) {
      rows?.set(run, row)
      return row
    }
    rows = await readRows()
    return rows.get(run)
  }
  const readRows = async () => new Map((await store.runs(experimentId)).map((row) => [row.name, row]))
  const base = (row: RunRow) => ({ run_id: row.id, at: new Date(clock.now()).toISOString() })

  const started = async (state: ResearchState, step: RunStep): Promise<void> => {
    const row = await rowOf(step.run)
    if (row === undefined) return
    await store.verdicts.note(row.id, notesOf(state, attemptOf(state, step.attempt)))
    if (row.kind === 'training') return
    const stream = `run:${row.id}`
    const { nextEvent } = await store.cursor(stream)
    const event: RunEvent = {
      ...base(row),
      seq: nextEvent,
      type: 'run.started',
      config_hash: row.configHash,
      attempt: nextEvent === 1 ? 1 : row.attempt + 1,
    }
    await store.append(stream, nextEvent - 1, [event])
  }
  const finished = async (state: ResearchState, entry: FinishedRun): Promise<void> => {
    const row = await rowOf(entry.run)
    if (row === undefined) return
    const stream = `run:${row.id}`
    const { nextEvent } = await store.cursor(stream)
    if (row.kind === 'training' && !isOpen(await store.run(row.id))) return // who trained it wrote how it ended
    const bodies = row.kind === 'training' ? endOfTraining(entry) : endOf(state, entry)
    const events = bodies.map((body, i) => ({ ...base(row), seq: nextEvent + i, ...body }) as RunEvent) // bodies are of one union
    await store.append(stream, nextEvent - 1, events)
    if (entry.outcome.status === 'scored' && entry.outcome.claimed !== undefined) {
      await store.verdicts.note(row.id, { claimed: entry.outcome.claimed })
    }
  }
  /** Verdicts become notes of all runs of their attempt. */
  const decided = async (state: ResearchState, id: string): Promise<void> => {
    const attempt = attemptOf(state, id)
    const notes = notesOf(state, attempt)
    for (const { run } of attempt.runs) {
      const row = await rowOf(run)
      if (row !== undefined) await store.verdicts.note(row.id, notes)
    }
  }
  return {
    /** What belongs to the entry that intends a run. */
    async added(state: ResearchState, step: RunStep): Promise<BesideEntry> {
      const attempt = attemptOf(state, step.attempt)
      const { run: name, seed, split } = step
      const asked = { run: name, arm: attempt.id, seed, split, files: filesOf(state, attempt.id) }
      const run = trainings === undefined ? plannedRun(state, step) : await trainings.planned(asked)
      const arm = { name: run.arm, params: armParams(state, attempt), seeds: [] }
      const [parent] = attempt.parents
      const parentRun = parent === undefined ? undefined : attemptOf(state, parent).runs[0]?.run
      const parentRow = parentRun === undefined ? undefined : await rowOf(parentRun)
      const runId = ids.next('run')
      added.set(run.name, runId)
      return { type: 'run.added', run_id: runId, run, arm, parent_run: parentRow?.id }
    },
    started,
    finished,
    decided,
    /** Writes what the tables lack. */
    async catchUp(state: ResearchState): Promise<void> {
      rows = await readRows()
      for (const attempt of state.attempts) {
        for (const run of attempt.runs) {
          const row = rows.get(run.run)
          if (run.status === 'running' || !isOpen(row)) continue
          if (row?.status === 'pending') await started(state, { kind: 'run', attempt: attempt.id, ...run })
          await finished(state, recorded(attempt, run))
        }
        if (attempt.verdict !== undefined) await decided(state, attempt.id)
      }
    },
  }
}

// The state keeps of a run what decisions need; it is enough to close its row.
function recorded(attempt: ResearchAttempt, run: ResearchAttempt['runs'][number]): FinishedRun {
  const { seed, split, purpose, status, value, failure, wallS, peakMemoryBytes } = run
  const score = [...attempt.scores, ...attempt.hidden].find((each) => each.seed === seed && each.value === value)
  return {
    type: 'run.finished',
    run: run.run,
    attempt: attempt.id,
    seed,
    split,
    purpose,
    outcome:
      status === 'scored'
        ? { status, value: value ?? Number.NaN, secondary: score?.secondary ?? {} }
        : status === 'failed'
          ? { status, failure: failure ?? { class: 'infra', reason: 'unknown' } }
          : { status: 'killed' },
    wall_s: wallS ?? 0,
    peak_memory_bytes: peakMemoryBytes,
  }
}

/** A run as the plan of its experiment names it. */
function plannedRun(state: ResearchState, { run, attempt: id, seed }: RunStep): PlannedRun {
  const { settings } = state
  const { title, fingerprint } = attemptOf(state, id)
  const candidate = { task: settings?.task ?? '', title, fingerprint, train_seconds: settings?.train_seconds ?? 0 }
  return candidateRun({ run, arm: id, seed, candidate, taskHash: settings?.task_hash ?? '' })
}

export function candidateRun(of: {
  run: string
  arm: string
  seed: number
  candidate: Candidate
  taskHash: string
}): PlannedRun {
  const { run, arm, seed, candidate, taskHash } = of
  const config_hash = hashOf({ task: taskHash, arm, seed, run, fingerprint: candidate.fingerprint ?? null })
  return { kind: 'candidate', name: run, arm, seed, candidate, config_hash }
}

function armParams(state: ResearchState, attempt: ResearchAttempt): Record<string, unknown> {
  const [parent] = attempt.parents
  const before = parent === undefined ? attempt.knobs : attemptOf(state, parent).knobs
  const turned = Object.entries(attempt.knobs).filter(([name, value]) => before[name] !== value)
  return { title: attempt.title, ...Object.fromEntries(turned) }
}

function notesOf(state: ResearchState, attempt: ResearchAttempt): RunNotes {
  const [parent] = attempt.parents
  const diff = parent === undefined ? '' : unifiedDiff(filesOf(state, parent), filesOf(state, attempt.id))
  return {
    category: attempt.category,
    mode: attempt.mode,
    description: attempt.reason === undefined ? attempt.title : `${attempt.title}. ${attempt.reason}`,
    diff: diff === '' ? undefined : diff,
    kept: attempt.verdict && (attempt.verdict === 'provisional' || attempt.verdict === 'confirmed'),
  }
}

function isOpen(row: Pick<RunRow, 'status'> | undefined): boolean {
  return row?.status === 'pending' || row?.status === 'running'
}

type Body = { readonly type: 'eval.finished' | 'run.finished' } & Readonly<Record<string, unknown>>

// A training that never reported its end: it was ended early, or could not begin.
function endOfTraining({ outcome, wall_s }: FinishedRun): Body[] {
  const isFailed = outcome.status === 'failed'
  const failure: CandidateFailure = isFailed
    ? { class: outcome.failure.class, reason: outcome.failure.reason }
    : { reason: (outcome.status === 'killed' ? outcome.reason : undefined) ?? 'ended early: it fell too far behind' }
  const error = failureError(failure)
  return [{ type: 'run.finished', status: isFailed ? 'failed' : 'stopped', metrics: {}, error, wall_s }]
}

function endOf({ settings }: ResearchState, finished: FinishedRun): Body[] {
  const { outcome, split, wall_s, peak_memory_bytes } = finished
  const memory = peak_memory_bytes === undefined ? {} : { [PEAK_MEMORY]: peak_memory_bytes / 1e9 }
  if (outcome.status !== 'scored') {
    const failure =
      outcome.status === 'failed'
        ? { class: outcome.failure.class, reason: outcome.failure.reason }
        : { reason: outcome.reason ?? 'ended early: its training curve fell too far behind' }
    const status = outcome.status === 'failed' ? 'failed' : 'stopped'
    return [{ type: 'run.finished', status, metrics: memory, failure, wall_s }]
  }
  const metrics = { ...outcome.secondary, [settings?.metric ?? 'score']: outcome.value }
  const scored = { benchmark: BENCHMARKS[split], split, metrics, n_tasks: 1, n_infra_failed: 0 }
  return [
    { type: 'eval.finished', ...scored, scorer_hash: settings?.task_hash ?? '' },
    { type: 'run.finished', status: 'completed', metrics: { ...memory, ...metrics }, wall_s },
  ]
}
