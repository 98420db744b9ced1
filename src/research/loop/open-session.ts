// A session that one controller holds: its lease, its journal, its plugins, and the rows that follow from its journal.
import type { ExperimentRow, ResearchAttempt, SessionSettings } from '../../contracts/index.ts'
import { createIds, EvsysError, systemClock, systemRandom } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import { createSession } from './begin-session.ts'
import { createRunRecorder, type RunRecorder } from './record-runs.ts'
import type { ResearchOptions } from './research-options.ts'
import { type NewEntry, openJournal, type SessionJournal } from './session-journal.ts'
import { equipSession, type SessionPlugins } from './session-plugins.ts'
import { sessionToResume } from './session-to-resume.ts'

export interface OpenSession extends AsyncDisposable {
  readonly journal: SessionJournal
  readonly plugins: SessionPlugins
  readonly recorder: RunRecorder
  /** Aborted when another controller took over. */
  readonly lost: AbortSignal
  /** Writes decisions, and what follows from them into the tables. */
  write(entries: readonly NewEntry[]): Promise<void>
}

export async function openSession(options: ResearchOptions): Promise<OpenSession> {
  const { store, executor, clock = systemClock, services, signal } = options
  const ids = createIds({ clock, random: systemRandom })
  const provenance = options.provenance ?? {}
  const equip = (settings: SessionSettings) => equipSession(settings, { ...services, signal })
  if (options.resume !== true) {
    equip(options.settings) // a wrong name leaves no session behind
    requireKey(options.settings, options)
  }
  const experimentId =
    options.resume === true
      ? (await sessionToResume(store, executor.task, options.session)).id
      : await createSession(store, options.settings, { clock, ids, provenance })
  const lost = new AbortController()
  const { holdLease } = await loadLab()
  const held = await holdLease(store.leases, `research:${experimentId}`, lost)
  try {
    const { onEntry } = options
    const journal = await openJournal({
      store,
      experimentId,
      clock,
      lease: held.lease,
      ...(onEntry === undefined ? {} : { onEntry }),
    })
    const row = await store.findExperiment(experimentId)
    const isResumed = await begin(journal, row, options)
    const settings = journal.state.settings ?? options.settings
    const recorder = createRunRecorder(store, experimentId, { clock, ids })
    options.onBegin?.({ experimentId, state: journal.state, isResumed })
    return {
      journal,
      recorder,
      plugins: equip(settings),
      lost: lost.signal,
      async write(entries) {
        await journal.append(entries)
        for (const entry of entries) if (entry.type === 'run.finished') await recorder.finished(journal.state, entry)
        for (const id of judgedBy(entries)) await recorder.judged(journal.state, id)
      },
      [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
    }
  } catch (error) {
    await held[Symbol.asyncDispose]()
    throw error
  }
}

/** True: the session was there before. */
async function begin(journal: SessionJournal, row: ExperimentRow, options: ResearchOptions): Promise<boolean> {
  const { executor, settings, budget } = options
  const known = journal.state.settings
  if (known === undefined) {
    await journal.append([{ type: 'session.begun', settings, files: { ...executor.task.baseline } }])
    return false
  }
  requireKey(known, options)
  const raised = isRaised(known.budget, budget) ? { budget: { ...known.budget, ...budget } } : {}
  const isEnded = journal.state.status === 'ended'
  if (isEnded && !('budget' in raised)) {
    if (row.verdict === undefined) return true // all that is left is its conclusion
    throw hasEnded(journal)
  }
  const { config_hash, arms, runs } = row.plan
  const again = {
    type: 'experiment.started' as const,
    name: row.name,
    config_hash,
    n_arms: arms.length,
    n_runs: runs.length,
  }
  await journal.append([{ type: 'session.resumed', ...raised }], isEnded ? [again] : [])
  return true
}

// Before anything is measured: a proposer that cannot be asked would be found out only after the baseline.
function requireKey({ proposer: { kind } }: SessionSettings, { services }: ResearchOptions): void {
  if (kind !== 'anthropic') return // others can do without
  try {
    services.secret?.('ANTHROPIC_API_KEY')
  } catch (cause) {
    if (!EvsysError.is(cause)) throw cause
    throw new EvsysError('SECRET_MISSING', cause.message, {
      cause,
      fix: `${cause.fix ?? 'set it'}, or choose --proposer optimizer, which needs no key.`,
    })
  }
}

function hasEnded({ state, experimentId }: SessionJournal): EvsysError {
  return new EvsysError(
    'STORE_MISSING',
    `the session of "${state.settings?.task}" (${experimentId}) has ended: ${state.end?.text ?? ''}`,
    {
      fix: 'raise a cap to go on with it, such as --max-experiments, or leave out --resume to begin a new one',
    },
  )
}

function isRaised(known: NonNullable<ResearchOptions['budget']>, wanted: ResearchOptions['budget']): boolean {
  if (wanted === undefined) return false
  return Object.entries(wanted).some(([cap, value]) => value !== known[cap as keyof typeof known]) // keys of one schema
}

function judgedBy(entries: readonly NewEntry[]): ResearchAttempt['id'][] {
  return entries.flatMap((entry) => (entry.type === 'verdict' || entry.type === 'confirmation' ? [entry.attempt] : []))
}
