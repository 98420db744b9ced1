// Where an experiment stands, in one word. The record says "running" of one whose process was killed; the lease tells.
import type { ExperimentRow, RunStatus, Verdict } from '../../contracts/index.ts'
import { systemClock } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'

/** `interrupted`: nobody works on it, and it can be resumed. */
export type Standing = Verdict | RunStatus | 'interrupted'

export async function standingOf(store: OpenStore, { id, verdict, status }: ExperimentRow): Promise<Standing> {
  if (verdict !== undefined) return verdict
  if (status !== 'running' && status !== 'pending') return status
  const holder = await store.leases.holder(`experiment:${id}`)
  return holder !== undefined && holder.untilMs > systemClock.now() ? status : 'interrupted'
}
