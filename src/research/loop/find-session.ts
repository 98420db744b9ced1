// A session by its id, by its task, or simply the newest, for whoever reads it or says something to it.
import type { ExperimentRow } from '../../contracts/index.ts'
import { EvsysError, shellWord } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { isAskedFor } from '../tasks/is-asked-for.ts'
import { RESEARCH_TAG } from './begin-session.ts'
import { sessionSettingsOf } from './session-settings-of.ts'

export async function findResearchSession(
  store: OpenStore,
  { session, task }: { readonly session?: string | undefined; readonly task?: string | undefined },
): Promise<ExperimentRow> {
  if (session !== undefined) {
    const found = await store.findExperiment(session)
    if (found.tags.includes(RESEARCH_TAG)) return found
    throw new EvsysError('STORE_MISSING', `${found.name} (${found.id}) is no research session`, {
      fix: '`evsys history` lists experiments; sessions are begun with `evsys research run`.',
    })
  }
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
