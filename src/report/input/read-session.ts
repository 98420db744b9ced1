// Research sessions in the record: an experiment whose stream holds a journal.
import {
  type ExperimentRow,
  initialResearchState,
  type ResearchState,
  reduceResearch,
  type SessionSettings,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { isAskedFor } from '../../research/index.ts'
import type { OpenStore } from '../../store/index.ts'

interface RecordedSession {
  readonly experiment: ExperimentRow
  readonly state: BegunSession
}

/** The state of a session that has begun. */
export type BegunSession = ResearchState & { readonly settings: SessionSettings }

const PAGE = 1_000
/** Experiments among which a session is searched, the newest first. */
const mostExperiments = 1_000

/** The state that the journal of an experiment folds to; undefined where it has none. */
export async function readSession(store: OpenStore, experiment: ExperimentRow): Promise<RecordedSession | undefined> {
  let state = initialResearchState
  let afterSeq = 0
  for (;;) {
    const stream = `experiment:${experiment.id}`
    const page = await store.events({ stream, afterSeq, limit: PAGE, types: ['research'] })
    for (const event of page) {
      afterSeq = event.seq
      if (event.type === 'research') state = reduceResearch(state, event.entry)
    }
    if (page.length < PAGE) break
  }
  const { settings } = state
  return settings === undefined ? undefined : { experiment, state: { ...state, settings } }
}

/** The session of that id or name; without one the newest, of a task where one is named. */
export async function findSession(
  store: OpenStore,
  { session, task }: { session?: string | undefined; task?: string | undefined },
): Promise<RecordedSession> {
  if (session !== undefined) {
    const experiment = await store.findExperiment(session)
    const found = await readSession(store, experiment)
    if (found !== undefined) return found
    throw new EvsysError('STORE_MISSING', `${experiment.name} (${experiment.id}) is no research session`, {
      fix: '`evsys research status` shows the newest one; `evsys export ID --html` writes a report of any experiment.',
    })
  }
  for (const experiment of await store.experiments({ limit: mostExperiments })) {
    const found = await readSession(store, experiment)
    if (found !== undefined && (task === undefined || isAskedFor(found.state.settings, task))) return found
  }
  const what = task === undefined ? 'no research session' : `no research session of the task "${task}"`
  throw new EvsysError('STORE_MISSING', `${what} in this record`, {
    fix: `begin one: \`evsys research run${task === undefined ? '' : ` --task ${task}`}\`.`,
  })
}
