// One experiment out of the record, as a document that another record takes in.
import { Evidence, type ExperimentEvent, type RunEvent, type RunRow } from '../../contracts/index.ts'
import { EvsysError, isMapping, withoutUndefined } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { BUNDLE_FORMAT, BUNDLE_VERSION, type BundledRun, type ExperimentBundle } from './read-bundle.ts'

/** Everything that the record holds of an experiment that has ended. */
export async function exportExperiment(store: OpenStore, experiment: ExperimentRow): Promise<ExperimentBundle> {
  if (experiment.verdict === undefined) {
    throw new EvsysError('STORE_CONFLICT', `${experiment.name} (${experiment.id}) has no conclusion yet`, {
      fix: 'wait for its end, or resume it: `evsys run FILE --resume`. `evsys db backup` copies the record as it is.',
    })
  }
  const { id, createdAt, plan, provenance, words, evidence, costUsd, wallS } = experiment
  const runs: BundledRun[] = []
  for (const run of await store.runs(id)) runs.push(await exportRun(store, run))
  return {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    experiment: {
      id,
      created_at: createdAt,
      plan,
      provenance: isMapping(provenance) ? provenance : {},
      events: (await allEvents(store, `experiment:${id}`)).filter(isExperimentEvent),
      evidence: evidence === undefined ? undefined : Evidence.parse(evidence),
      cost_usd: costUsd,
      wall_s: wallS,
      words,
    },
    runs,
  }
}

/** Everything that the record holds of one run. */
export async function exportRun(store: OpenStore, run: RunRow): Promise<BundledRun> {
  const events = (await allEvents(store, `run:${run.id}`)).filter(isRunEvent)
  const { parentRun, diff, category, mode, kept, description, claimed } = run
  const notes = withoutUndefined({ parentRun, diff, category, mode, kept, description, claimed })
  return {
    id: run.id,
    name: run.name,
    events,
    points: await unreportedPoints(store, run.id, events),
    artifacts: await store.artifacts(run.id),
    notes,
    invalid: run.invalid,
  }
}

const PAGE = 10_000

async function allEvents(store: OpenStore, stream: string): Promise<(RunEvent | ExperimentEvent)[]> {
  const all: (RunEvent | ExperimentEvent)[] = []
  for (;;) {
    const page = await store.events({ stream, afterSeq: all.length, limit: PAGE })
    for (const event of page) all.push(event)
    if (page.length < PAGE) return all
  }
}

function isRunEvent(event: RunEvent | ExperimentEvent): event is RunEvent {
  return !('experiment_id' in event)
}

function isExperimentEvent(event: RunEvent | ExperimentEvent): event is ExperimentEvent {
  return 'experiment_id' in event
}

async function unreportedPoints(
  store: OpenStore,
  runId: string,
  events: readonly RunEvent[],
): Promise<BundledRun['points']> {
  const reported = new Map<string, Set<number>>()
  for (const event of events) {
    if (event.type !== 'step.finished') continue
    for (const key of Object.keys(event.metrics)) {
      const steps = reported.get(key) ?? new Set()
      reported.set(key, steps.add(event.step))
    }
  }
  const points: BundledRun['points'] = []
  for (const key of await store.metricKeys(runId)) {
    // As many buckets as there are steps: the values themselves.
    const curve = await store.curve({ runId, key, maxPoints: Number.MAX_SAFE_INTEGER })
    const rest = curve.filter(({ step }) => reported.get(key)?.has(step) !== true)
    if (rest.length > 0) points.push({ key, step: rest.map(({ step }) => step), value: rest.map(({ mean }) => mean) })
  }
  return points
}
