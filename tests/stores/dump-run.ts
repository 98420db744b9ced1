// Everything that the record says of one run, without its ids: two runs that were told the same say the same.
import type { Store } from '../../src/contracts/index.ts'

export async function dumpRun(store: Store, runId: string): Promise<unknown> {
  const { id: _id, experimentId: _experiment, ...run } = (await store.run(runId)) ?? {}
  const keys = await store.metricKeys(runId)
  const curves = new Map<string, unknown>()
  for (const key of keys) curves.set(key, [await curve(store, runId, key, 1e6), await curve(store, runId, key, 7)])
  const events = await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 1e6 })
  return {
    run,
    curves,
    evals: await store.evals(runId),
    checkpoints: await store.checkpoints(runId),
    events: events.map((event) => ({ ...event, run_id: '' })),
    cursor: await store.cursor(`run:${runId}`),
  }
}

function curve(store: Store, runId: string, key: string, maxPoints: number) {
  return store.curve({ runId, key, maxPoints })
}
