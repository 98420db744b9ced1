// What the events of an experiment say besides its runs: leaks that it allows, speeds of its engines, scores of other models, and the
// trips of guards in its runs.
import { pastGuards } from '../../algorithms/index.ts'
import type { BaselineScore, JudgeAgreement, Leak, RunFailures, RunTrip } from '../../contracts/index.ts'
import type { OpenStore, RunRow } from '../../store/index.ts'

type Events = Pick<OpenStore, 'events'>
type StoredEvent = Awaited<ReturnType<OpenStore['events']>>[number]

/** More events of one type than any experiment or run has. */
const limit = 1_000_000

async function eventsOf<T extends StoredEvent['type']>(store: Events, stream: string, type: T) {
  const events = await store.events({ stream, afterSeq: 0, limit, types: [type] })
  return events.filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type)
}

export async function recordedLeaks(store: Events, experimentId: string): Promise<Leak[]> {
  const events = await eventsOf(store, `experiment:${experimentId}`, 'data.leaked')
  return events.map(({ seq: _seq, at: _at, experiment_id: _id, type: _type, ...leak }) => leak)
}

/** By the id of the engine, in 10^9 operations per second. */
export type EngineSpeeds = ReadonlyMap<string, number>

export async function recordedSpeeds(store: Events, experimentId: string): Promise<EngineSpeeds> {
  const events = await eventsOf(store, `experiment:${experimentId}`, 'engine.measured')
  return new Map(events.map(({ engine_id, gflops }) => [engine_id, gflops]))
}

/** The newest score of each model on each benchmark. */
export async function baselinesOf(store: Events, experimentId: string): Promise<BaselineScore[]> {
  const newest = new Map<string, BaselineScore>()
  for (const event of await eventsOf(store, `experiment:${experimentId}`, 'baseline.finished')) {
    const { seq: _seq, at: _at, experiment_id: _id, type: _type, ...score } = event
    newest.set(JSON.stringify([score.model, score.benchmark]), score)
  }
  return [...newest.values()]
}

/** What models that judge cost, over all evaluations of these runs. */
export async function judgeCosts(store: Events, runIds: readonly string[]): Promise<number[]> {
  const events = await Promise.all(runIds.map((id) => eventsOf(store, `run:${id}`, 'eval.finished')))
  return events.flat().flatMap(({ judge }) => judge?.cost_usd ?? [])
}

/** How well the judges of benchmarks agree with labels of people, as last measured in these runs. */
export async function recordedJudges(store: Events, runIds: readonly string[]): Promise<JudgeAgreement[]> {
  const newest = new Map<string, JudgeAgreement>()
  const events = await Promise.all(runIds.map((id) => eventsOf(store, `run:${id}`, 'eval.finished')))
  for (const { benchmark, judge } of events.flat()) {
    const { calibration, labels_failed } = judge ?? {}
    if (calibration === undefined && labels_failed === undefined) continue
    newest.set(benchmark, { benchmark, ...calibration, labels_failed })
  }
  return [...newest.values()]
}

/** What failed within runs without ending them, as each counted at its end. */
export async function recordedFailures(
  store: Events,
  runs: readonly Pick<RunRow, 'id' | 'name' | 'invalid'>[],
): Promise<RunFailures[]> {
  const valid = runs.filter(({ invalid }) => invalid === undefined)
  const counted = await Promise.all(
    valid.map(async ({ id, name }) => {
      const last = (await eventsOf(store, `run:${id}`, 'run.finished')).at(-1)
      return (last?.failures ?? []).map((count) => ({ ...count, run: name }))
    }),
  )
  return counted.flat()
}

/** Notices of an experiment and of its runs, each once. */
export async function recordedNotices(
  store: Events,
  experimentId: string,
  runs: readonly Pick<RunRow, 'id' | 'name'>[],
): Promise<string[]> {
  const own = await eventsOf(store, `experiment:${experimentId}`, 'notice')
  const ofRuns = await Promise.all(
    runs.map(async ({ id, name }) => {
      const events = await eventsOf(store, `run:${id}`, 'notice')
      return events.map(({ text }) => `${name}: ${text}`)
    }),
  )
  return [...new Set([...own.map(({ text }) => text), ...ofRuns.flat()])]
}

/** The trips of guards. What a later attempt did again is not in it. */
export async function recordedTrips(store: Events, runs: readonly Pick<RunRow, 'id' | 'name'>[]): Promise<RunTrip[]> {
  const types = ['run.started', 'guard.tripped'] as const
  const trips = await Promise.all(
    runs.map(async ({ id, name }) => {
      const events = await store.events({ stream: `run:${id}`, afterSeq: 0, limit, types })
      return pastGuards(events).trips.map((trip) => ({ run: name, ...trip }))
    }),
  )
  return trips.flat()
}
