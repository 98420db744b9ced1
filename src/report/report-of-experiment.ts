// The report of any experiment of the record: of a research session, of a log that was imported, of an ordinary experiment.
import { loadLab } from '../lab/index.ts'
import type { ExperimentRow, OpenStore } from '../store/index.ts'
import { experimentReport } from './experiment-report.ts'
import { logReport } from './log-report.ts'
import { readSession } from './read-session.ts'
import { researchReport } from './research-report.ts'
import { sessionInput } from './session-input.ts'

export async function reportOfExperiment(store: OpenStore, experiment: ExperimentRow): Promise<string> {
  const session = await readSession(store, experiment)
  if (session !== undefined) return researchReport(sessionInput(session.state, { id: experiment.id }))
  const { evidenceOf, isLogImport, resultOf } = await loadLab()
  if (isLogImport(experiment)) return researchReport(await logReport(experiment, await store.runs(experiment.id)))
  const { evidence, runs } = await evidenceOf(store, experiment)
  const { hypothesis, createdAt, tags, words } = experiment
  return experimentReport({
    result: await resultOf(store, experiment),
    evidence,
    ...(hypothesis === undefined ? {} : { hypothesis }),
    createdAt,
    tags,
    words,
    runs: runs.map(({ run }) => run),
  })
}
