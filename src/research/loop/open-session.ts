// A session that one controller holds: its lease, its journal, its plugins, and the rows that follow from its journal.
import {
  type ExperimentRow,
  RecordedExperiment,
  type RecordedPlan,
  type ResearchState,
  type ResolvedClaim,
  SessionSettings,
} from '../../contracts/index.ts'
import { type Clock, createIds, EvsysError, hashOf, type Ids, systemClock, systemRandom } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { resolvedClaim, sessionClaim } from '../conclude/session-claim.ts'
import { hiddenBenchmark } from '../experiments/open-experiment.ts'
import { BASELINE } from './decide-baseline.ts'
import { RESEARCH_TAG, sessionToResume } from './find-session.ts'
import { BENCHMARKS, candidateRun, createRunRecorder, type RunRecorder } from './record-runs.ts'
import { equipSession, type ResearchOptions, type SessionPlugins } from './research-options.ts'
import { type BesideEntry, type NewEntry, openJournal, type SessionJournal } from './session-journal.ts'

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
    equip(options.settings) // a wrong name creates no session
    requireKey(options.settings, options)
  }
  const experimentId =
    options.resume === true
      ? (await sessionToResume(store, executor.task, options.session)).id
      : await createSession(store, options, { clock, ids, provenance })
  const lost = new AbortController()
  const { holdLease } = await loadLab()
  const held = await holdLease(store.leases, `research:${experimentId}`, lost)
  try {
    const { onEntry } = options
    const journal = await openJournal({ store, experimentId, clock, lease: held.lease, onEntry })
    const row = await store.findExperiment(experimentId)
    const isResumed = await begin(journal, row, options)
    const settings = journal.state.settings ?? options.settings
    executor.trainings?.begun(experimentId, held.lease)
    const recorder = createRunRecorder(store, experimentId, { clock, ids, trainings: executor.trainings })
    options.onBegin?.({ experimentId, state: journal.state, isResumed })
    return {
      journal,
      recorder,
      plugins: equip(settings),
      lost: lost.signal,
      async write(entries) {
        await journal.append(entries)
        for (const entry of entries) if (entry.type === 'run.finished') await recorder.finished(journal.state, entry)
        for (const entry of entries)
          if (entry.type === 'verdict' || entry.type === 'confirmation')
            await recorder.decided(journal.state, entry.attempt)
      },
      [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
    }
  } catch (error) {
    await held[Symbol.asyncDispose]()
    throw error
  }
}

/** Who is named as the author of ideas that earlier experiments gave. */
const RECORD = 'the record'

/** True: the session was there before. */
async function begin(journal: SessionJournal, row: ExperimentRow, options: ResearchOptions): Promise<boolean> {
  const { executor, settings, budget } = options
  const known = journal.state.settings
  if (known === undefined) {
    const ideas = (options.first ?? []).map(({ from, idea }): NewEntry => {
      return { type: 'steered', author: RECORD, steering: { action: 'add_idea', text: `what won in ${from}`, idea } }
    })
    await journal.append([{ type: 'session.begun', settings, files: { ...executor.task.baseline } }, ...ideas])
    return false
  }
  requireKey(known, options)
  const raised = isRaised(known.budget, budget) ? { ...known.budget, ...budget } : undefined
  const isEnded = journal.state.status === 'ended'
  // What follows from its end is derived again, which changes nothing: its controller may have died before it said so.
  if (isEnded && raised === undefined) {
    options.services.log('warn', endedText(journal))
    return true
  }
  const { config_hash, arms, runs } = row.plan
  const planned = { name: row.name, config_hash, n_arms: arms.length, n_runs: runs.length }
  const started: BesideEntry[] = isEnded ? [{ type: 'experiment.started', ...planned }] : []
  await journal.append([{ type: 'session.resumed', budget: raised }], started)
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

function endedText({ state, experimentId }: SessionJournal): string {
  return `the session of "${state.settings?.task}" (${experimentId}) has ended; to search on, raise a cap, such as --max-experiments, or leave out --resume to begin a new one`
}

function isRaised(known: NonNullable<ResearchOptions['budget']>, wanted: ResearchOptions['budget']): boolean {
  if (wanted === undefined) return false
  return Object.entries(wanted).some(([cap, value]) => value !== known[cap as keyof typeof known]) // keys of one schema
}

/** Puts a new session into the record. The journal still has to say that it began. */
async function createSession(
  store: OpenStore,
  { settings, executor }: Pick<ResearchOptions, 'settings' | 'executor'>,
  { clock, ids, provenance }: { clock: Clock; ids: Ids; provenance: Readonly<Record<string, unknown>> },
): Promise<string> {
  const experimentId = ids.next('exp')
  await store.createExperiment({
    experimentId,
    at: new Date(clock.now()).toISOString(),
    plan: (await executor.trainings?.plan(settings.seeds[0] ?? 0)) ?? planOf(settings),
    runIds: [ids.next('run')],
    provenance: {
      ...provenance,
      ...executor.trainings?.provenance,
      research: { task: settings.task, task_hash: settings.task_hash },
    },
  })
  return experimentId
}

function planOf(settings: SessionSettings): RecordedPlan {
  const [seed = 0] = settings.seeds
  const run = candidateRun({
    run: `${BASELINE}-s${seed}`,
    arm: BASELINE,
    seed,
    candidate: { task: settings.task, title: 'baseline', train_seconds: settings.train_seconds },
    taskHash: settings.task_hash,
  })
  const { metric, direction } = settings
  const experiment = RecordedExperiment.parse({
    name: settings.task,
    description: `Research on the task ${settings.task}: ${settings.strategy.kind}, ${settings.proposer.kind}, ${settings.keep_rule.kind}.`,
    metadata: {
      hypothesis: `There are changes that improve ${metric} of ${settings.task} beyond the baseline.`,
      tags: [RESEARCH_TAG],
      benchmark: [
        { name: BENCHMARKS.val, path: settings.task, split: 'val', metrics: [metric] },
        { name: BENCHMARKS.test, path: settings.task, split: 'test', metrics: [metric] },
      ],
    },
    runs: [],
  })
  return {
    experiment,
    config_hash: hashOf({ research: SessionSettings.parse(settings) }),
    objective: { benchmark: BENCHMARKS.val, metric, direction },
    arms: [{ name: BASELINE, params: {}, seeds: [seed] }],
    runs: [run],
    notices: [],
  }
}

/** Writes the end of a session into the record: its evidence, its conclusion and what it took. Doing it again changes nothing. */
export async function concludeSession({ journal }: OpenSession, { store }: ResearchOptions): Promise<void> {
  const { state, experimentId } = journal
  const experiment = await store.experiment(experimentId)
  if (experiment === undefined || (experiment.verdict !== undefined && experiment.conclusion === state.end?.text))
    return
  const { evidenceOf } = await import('../../record/index.ts')
  const claim = claimAtEnd(state, experiment)
  const { evidence } = await evidenceOf(store, { ...experiment, plan: { ...experiment.plan, claim } })
  const best = state.incumbent ?? null
  // Which arm is best was decided race by race, not by the mean that happens to be lowest.
  await store.verdicts.evidence(
    experimentId,
    { ...evidence, best_arm: best },
    { wallS: state.spend.wallS, costUsd: state.spend.usd },
  )
  const finished: BesideEntry = {
    type: 'experiment.finished',
    status: evidence.n_completed === 0 ? 'failed' : 'completed',
    verdict: evidence.verdict,
    conclusion: state.end?.text ?? '',
    best_arm: best ?? undefined,
    claim,
  }
  await journal.append([], [finished])
}

function claimAtEnd(state: ResearchState, { plan }: ExperimentRow): ResolvedClaim | undefined {
  const claim = sessionClaim(state)
  const benchmark = claim && hiddenBenchmark(plan.experiment.metadata.benchmark, claim.metric)
  const direction = state.settings?.direction ?? 'min'
  return claim && benchmark && resolvedClaim(claim, { benchmark: benchmark.name, direction })
}
