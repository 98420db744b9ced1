// How fast the engines of an experiment compute on this machine, in its record: for readers. Nothing is compared by it.
import type { ExperimentEvent } from '../../contracts/index.ts'
import { keptSpeed } from '../../engine/index.ts'
import type { Clock } from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import type { Lease, OpenStore } from '../../store/index.ts'

/** By the id of the engine, in 10^9 operations per second. */
export type EngineSpeeds = ReadonlyMap<string, number>

/** Records what this machine has measured of the engines that the runs used, each engine once. */
export async function recordSpeeds(
  store: OpenStore,
  experimentId: string,
  { clock, lease }: { clock: Clock; lease: Lease },
): Promise<void> {
  const recorded = await recordedSpeeds(store, experimentId)
  const engines = new Set((await store.runs(experimentId)).flatMap(({ engineId }) => engineId ?? []))
  const stream = `experiment:${experimentId}`
  for (const engine_id of engines) {
    const gflops = recorded.has(engine_id) ? undefined : await keptSpeed(cacheFolder(), engine_id)
    if (gflops === undefined) continue
    const { nextEvent: seq } = await store.cursor(stream)
    const at = new Date(clock.now()).toISOString()
    const base = { seq, at, experiment_id: experimentId }
    const event: ExperimentEvent = { ...base, type: 'engine.measured', engine_id, gflops }
    await store.append(stream, seq - 1, [event], lease)
  }
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
