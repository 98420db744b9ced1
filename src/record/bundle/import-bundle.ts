// An exported experiment into this record. Items have numbers, so doing it again, also after a crash in the middle, completes it
// and changes nothing else. An experiment with another history here is left alone.
import type { ExperimentEvent, Item, RunEvent } from '../../contracts/index.ts'
import { EvsysError, hashOf, withoutUndefined } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import type { Imported } from '../log/import-log.ts'
import type { BundledRun, ExperimentBundle } from './read-bundle.ts'

/** Puts a checked export into the record. Words keep their times: the record asks a clock, which `setTime` sets. */
export async function importBundle(
  store: OpenStore,
  { experiment, runs }: ExperimentBundle,
  { setTime }: { setTime(ms: number): void },
): Promise<Imported> {
  const { id, plan, words } = experiment
  const before = await store.experiment(id)
  await requirePrefix(store, `experiment:${id}`, experiment.events)
  for (const run of runs) await requirePrefix(store, `run:${run.id}`, run.events)
  await store.createExperiment({
    experimentId: id,
    at: experiment.created_at,
    plan: { ...plan, experiment: ownOutput(plan.experiment) },
    runIds: runs.map((run) => run.id),
    provenance: experiment.provenance,
  })
  for (const run of runs) await importRun(store, run)
  const [, ...later] = experiment.events // creating it has reported the first
  await pushNew(store, `experiment:${id}`, later, 2)
  if (experiment.evidence !== undefined) {
    await store.verdicts.evidence(id, experiment.evidence, {
      wallS: experiment.wall_s ?? 0,
      costUsd: experiment.cost_usd,
    })
  }
  const known = before?.words ?? []
  for (const { at, author, text } of words) {
    if (known.some((word) => word.author === author && word.text === text)) continue
    setTime(Date.parse(at))
    await store.verdicts.conclude(id, author, text)
  }
  const now = await store.findExperiment(id)
  return {
    experiment_id: id,
    n_runs: runs.length,
    n_kept: runs.filter(({ notes }) => notes.kept === true).length,
    name: now.name,
    conclusion: now.conclusion ?? '',
    wasThere: before?.verdict !== undefined,
  }
}

// A folder of another machine is none of ours.
function ownOutput({ output_dir: _dir, ...rest }: ExperimentBundle['experiment']['plan']['experiment']) {
  return rest
}

async function importRun(store: OpenStore, run: BundledRun): Promise<void> {
  const stream = `run:${run.id}`
  await pushNew(store, stream, [...run.events, ...pointItems(run)], 1)
  if (Object.keys(run.notes).length > 0) await store.verdicts.note(run.id, withoutUndefined(run.notes))
  if (run.invalid !== undefined) await store.verdicts.invalidate(run.id, run.invalid)
  for (const artifact of run.artifacts) await store.keepArtifact(run.id, artifact)
}

/** Items per transaction. */
const BATCH = 1_000

async function pushNew(store: OpenStore, stream: string, items: readonly Item[], firstSeq: number): Promise<void> {
  for (let start = 0; start < items.length; start += BATCH) {
    await store.push({ stream, fromSeq: firstSeq + start, items: items.slice(start, start + BATCH) })
  }
}

/** Points that no event reports, as items. */
export function pointItems({ id, points, events }: Pick<BundledRun, 'id' | 'points' | 'events'>): Item[] {
  const last = events.at(-1)?.at
  const atMs = last === undefined ? 0 : Math.max(0, Date.parse(last))
  return points.map(({ key, step, value }) => ({
    type: 'points',
    run_id: id,
    key: step.map(() => key),
    step,
    value,
    at_ms: step.map(() => atMs),
  }))
}

async function requirePrefix(
  store: OpenStore,
  stream: string,
  events: readonly (RunEvent | ExperimentEvent)[],
): Promise<void> {
  const here = (await store.cursor(stream)).nextEvent - 1
  const known = here === 0 ? [] : await store.events({ stream, afterSeq: 0, limit: events.length + 1 })
  const isPrefix = here <= events.length && known.every((event, i) => isSame(event, events[i]))
  if (isPrefix) return
  const message = `the record has ${stream.replace(':', ' ')} already, with another history`
  throw new EvsysError('STORE_CONFLICT', message, {
    fix: 'the one in the record stays; import into another project to look at both.',
  })
}

// Where `gc` dropped a log line, its place alone is left.
function isSame(a: RunEvent | ExperimentEvent, b: RunEvent | ExperimentEvent | undefined): boolean {
  if (b === undefined) return false
  if (a.type === 'log' && b.type === 'log') return a.seq === b.seq
  return hashOf(a) === hashOf(b)
}
