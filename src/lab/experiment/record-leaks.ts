// Leaks that an experiment allows, in its record: told once, however often it is resumed, and shown with its result.
import { ExperimentEvent, type Leak } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { Lease, OpenStore } from '../../store/index.ts'

/** Events of an experiment as a whole: more than any has. */
const most = 1_000_000

export async function recordLeaks(
  store: OpenStore,
  experimentId: string,
  leaks: readonly Leak[],
  { clock, lease }: { clock: Clock; lease: Lease },
): Promise<void> {
  if (leaks.length === 0 || (await recordedLeaks(store, experimentId)).length > 0) return
  const stream = `experiment:${experimentId}`
  const { nextEvent } = await store.cursor(stream)
  const at = new Date(clock.now()).toISOString()
  const events = leaks.map(
    (leak, index): ExperimentEvent => ({
      seq: nextEvent + index,
      at,
      experiment_id: experimentId,
      type: 'data.leaked',
      ...leak,
    }),
  )
  await store.append(stream, nextEvent - 1, events, lease)
}

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
