// Which session `--resume` goes on with: the one that was named, else the newest whose task is the same as now.
import type { ExperimentRow, ResearchTask, SessionSettings } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { RESEARCH_TAG } from './begin-session.ts'
import { sessionSettingsOf } from './session-settings-of.ts'

type Asked = Pick<ResearchTask, 'name' | 'hash' | 'trainSeconds'>

/** Sessions that a refusal names. */
const mostNamed = 4

export async function sessionToResume(store: OpenStore, task: Asked, session?: string): Promise<ExperimentRow> {
  if (session !== undefined) return await namedSession(store, task, session)
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

async function namedSession(store: OpenStore, task: Asked, session: string): Promise<ExperimentRow> {
  const row = await store.findExperiment(session)
  if (!row.tags.includes(RESEARCH_TAG)) {
    throw new EvsysError('STORE_MISSING', `${row.name} (${row.id}) is no research session`, {
      fix: '`evsys history` lists experiments; sessions are begun with `evsys research run`.',
    })
  }
  const settings = await sessionSettingsOf(store, row)
  if (settings !== undefined && settings.task_hash !== task.hash) throw doesNotFit(task, [{ row, settings }])
  return row
}

/** Scores of another scorer, other data, another device or another time do not compare. */
function doesNotFit(
  task: Asked,
  others: readonly { row: Pick<ExperimentRow, 'id'>; settings: SessionSettings }[],
): EvsysError {
  const choices = others.slice(0, mostNamed).map(({ row, settings }) => {
    const { train_seconds: seconds, reference = settings.task } = settings
    const differs = seconds === task.trainSeconds ? '' : ` --train-seconds ${seconds}`
    return `${row.id} (--task ${reference}${differs})`
  })
  const more = others.length > mostNamed ? ` and ${others.length - mostNamed} more` : ''
  const isTime = others.every(({ settings }) => settings.train_seconds !== task.trainSeconds)
  const why = isTime
    ? `was begun with ${task.trainSeconds} s of training`
    : 'was begun with the task as it is now: its scorer, data, program, time or device has changed'
  return new EvsysError('CONFIG_CONFLICT', `no session of "${task.name}" ${why}`, {
    fix: `scores would not compare. There is ${choices.join(', ')}${more}; leave out --resume to begin a new session.`,
  })
}
