// The trips of guards that stand in the record of runs. What a later attempt did again is not in it.
import type { RunTrip } from '../../contracts/index.ts'
import type { OpenStore, RunRow } from '../../store/index.ts'
import { pastGuards } from '../train/guards/past-guards.ts'

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
