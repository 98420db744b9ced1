// Which session of the record is meant: by its id, by its task, or the newest.
import {
  type ExperimentRow,
  initialResearchState,
  type ResearchTask,
  reduceResearch,
  type SessionSettings,
} from '../../contracts/index.ts'
import { EvsysError, shellWord } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { isAskedFor } from '../tasks/find-tasks.ts'

/** Tag of experiments that are research sessions. */
export const RESEARCH_TAG = 'research'

/** The session to read or to steer. */
export async function findResearchSession(
  store: OpenStore,
  { session, task }: { readonly session?: string | undefined; readonly task?: string | undefined },
): Promise<ExperimentRow> {
  if (session !== undefined) return await namedSession(store, session)
  const all = await store.experiments({ limit: 1000 })
  for (const row of all) {
    if (!row.tags.includes(RESEARCH_TAG)) continue
    if (task === undefined || task === row.name) return row
    const settings = await sessionSettingsOf(store, row)
    if (settings !== undefined && isAskedFor(settings, task)) return row
  }
  const what = task === undefined ? 'no research session' : `no research session of the task "${task}"`
  throw new EvsysError('STORE_MISSING', `the record has ${what}`, {
    fix: `begin one: \`evsys research run --task ${task === undefined ? 'digits' : shellWord(task)}\`.`,
  })
}

type Asked = Pick<ResearchTask, 'name' | 'hash' | 'trainSeconds'>

/** Sessions that a refusal names. */
const mostNamed = 4

/** The session that `--resume` continues: the one that was named, else the newest whose task is the same as now. */
export async function sessionToResume(store: OpenStore, task: Asked, session?: string): Promise<ExperimentRow> {
  if (session !== undefined) {
    const row = await namedSession(store, session)
    const settings = await sessionSettingsOf(store, row)
    if (settings !== undefined && settings.task_hash !== task.hash) throw doesNotFit(task, [{ row, settings }])
    return row
  }
  const all = await store.experiments({ limit: 1000 })
  const sessions = all.filter((row) => row.name === task.name && row.tags.includes(RESEARCH_TAG))
  const others: { row: ExperimentRow; settings: SessionSettings }[] = []
  for (const row of sessions) {
    const settings = await sessionSettingsOf(store, row)
    // One that was created and never begun is begun now.
    if (settings === undefined || settings.task_hash === task.hash) return row
    others.push({ row, settings })
  }
  if (others.length > 0) throw doesNotFit(task, others)
  throw new EvsysError('STORE_MISSING', `no research session of this project has the task "${task.name}"`, {
    fix: 'leave out --resume to begin one. `evsys history` lists what there is',
  })
}

async function namedSession(store: OpenStore, session: string): Promise<ExperimentRow> {
  const row = await store.findExperiment(session)
  if (row.tags.includes(RESEARCH_TAG)) return row
  throw new EvsysError('STORE_MISSING', `${row.name} (${row.id}) is no research session`, {
    fix: '`evsys history` lists experiments; sessions are begun with `evsys research run`.',
  })
}

/** Scores of another scorer, other data, another device or another time do not compare. */
function doesNotFit(task: Asked, others: readonly { row: ExperimentRow; settings: SessionSettings }[]): EvsysError {
  const choices = others.slice(0, mostNamed).map(({ row, settings }) => {
    const { train_seconds: seconds, reference = settings.task } = settings
    const differs = seconds === task.trainSeconds || settings.catalog !== undefined ? '' : ` --train-seconds ${seconds}`
    return `${row.id} (${settings.catalog === undefined ? `--task ${reference}` : reference}${differs})`
  })
  const more = others.length > mostNamed ? ` and ${others.length - mostNamed} more` : ''
  const isTime = others.every(({ settings }) => {
    return settings.catalog === undefined && settings.train_seconds !== task.trainSeconds
  })
  const why = isTime
    ? `was begun with ${task.trainSeconds} s of training`
    : 'was begun with the task as it is now: its scorer, data, program, time or device has changed'
  return new EvsysError('CONFIG_CONFLICT', `no session of "${task.name}" ${why}`, {
    fix: `scores would not compare. There is ${choices.join(', ')}${more}; leave out --resume to begin a new session.`,
  })
}

/** With what a session was begun: the first entry of its journal. Undefined: it was created and never begun. */
async function sessionSettingsOf(store: OpenStore, { id }: ExperimentRow): Promise<SessionSettings | undefined> {
  const [first] = await store.events({ stream: `experiment:${id}`, afterSeq: 0, limit: 1, types: ['research'] })
  return first?.type === 'research' ? reduceResearch(initialResearchState, first.entry).settings : undefined
}
