// What the events of an experiment say besides its runs: leaks that it allows, speeds of its engines, scores of other models.

import { pastGuards } from '../../algorithms/index.ts'
import { type BaselineScore, ExperimentEvent, type Leak, type RunTrip } from '../../contracts/index.ts'
import type { OpenStore, RunRow } from '../../store/index.ts'

/** Events of an experiment as a whole: more than any has. */
const most = 1_000_000

/** By the id of the engine, in 10^9 operations per second. */
export type EngineSpeeds = ReadonlyMap<string, number>

export async function recordedLeaks(store: OpenStore, experimentId: string): Promise<Leak[]> {
  const events = await store.events({
    stream: `experiment:${experimentId}`,
    afterSeq: 0,
    limit: most,
    types: ['data.leaked'],
  })
  return events.flatMap((stored) => {
    const event = ExperimentEvent.safeParse(stored)
    if (!event.success || event.data.type !== 'data.leaked') return []
    const { seq: _seq, at: _at, experiment_id: _id, type: _type, ...leak } = event.data
    return [leak]
  })
}

export async function recordedSpeeds(store: Pick<OpenStore, 'events'>, experimentId: string): Promise<EngineSpeeds> {
  const events = await store.events({
    stream: `experiment:${experimentId}`,
    afterSeq: 0,
    limit: 100_000,
    types: ['engine.measured'],
  })
  return new Map(
    events.flatMap((event) =>
      event.type === 'engine.measured' ? [[event.engine_id, event.gflops] as [string, number]] : [],
    ),
  )
}

/** The newest score of each model on each benchmark. */
export async function baselinesOf(store: Pick<OpenStore, 'events'>, experimentId: string): Promise<BaselineScore[]> {
  const events = await store.events({
    stream: `experiment:${experimentId}`,
    afterSeq: 0,
    limit: 100_000,
    types: ['baseline.finished'],
  })
  const newest = new Map<string, BaselineScore>()
  for (const event of events) {
    if (event.type !== 'baseline.finished') continue
    const { seq: _seq, at: _at, experiment_id: _id, type: _type, ...score } = event
    newest.set(JSON.stringify([score.model, score.benchmark]), score)
  }
  return [...newest.values()]
}

/** What models that judge cost, over all evaluations of these runs. */
export async function judgeCosts(store: Pick<OpenStore, 'events'>, runIds: readonly string[]): Promise<number[]> {
  const types = ['eval.finished'] as const
  const events = await Promise.all(
    runIds.map((id) => store.events({ stream: `run:${id}`, afterSeq: 0, limit: 100_000, types })),
  )
  return events.flat().flatMap((event) => (event.type === 'eval.finished' ? (event.judge?.cost_usd ?? []) : []))
}

// The trips of guards that stand in the record of runs. What a later attempt did again is not in it.

/** More events of these types than a run has. */
const MOST = 100_000

export async function recordedTrips(
  store: Pick<OpenStore, 'events'>,
  runs: readonly Pick<RunRow, 'id' | 'name'>[],
): Promise<RunTrip[]> {
  const types = ['run.started', 'guard.tripped'] as const
  const trips = await Promise.all(
    runs.map(async ({ id, name }) => {
      const events = await store.events({ stream: `run:${id}`, afterSeq: 0, limit: MOST, types })
      return pastGuards(events).trips.map((trip) => ({ run: name, ...trip }))
    }),
  )
  return trips.flat()
}
