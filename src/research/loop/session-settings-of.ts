// With what a session of the record was begun: the first entry of its journal.
import {
  type ExperimentRow,
  initialResearchState,
  reduceResearch,
  type SessionSettings,
} from '../../contracts/index.ts'
import type { OpenStore } from '../../store/index.ts'

/** Undefined: the session was created and never begun. */
export async function sessionSettingsOf(
  store: OpenStore,
  { id }: Pick<ExperimentRow, 'id'>,
): Promise<SessionSettings | undefined> {
  const [first] = await store.events({ stream: `experiment:${id}`, afterSeq: 0, limit: 1, types: ['research'] })
  return first?.type === 'research' ? reduceResearch(initialResearchState, first.entry).settings : undefined
}
