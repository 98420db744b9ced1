// The conclusion of a finished experiment, computed once more after a run was marked invalid.
import { stat } from 'node:fs/promises'
import type { ExperimentResult } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { outputDirOf } from '../experiment/begin-experiment.ts'
import { concludeExperiment, evidenceOf, resultOf } from '../experiment/conclude-experiment.ts'
import { conclusionText } from '../experiment/conclusion-text.ts'
import { writeExperimentFiles } from '../experiment/write-experiment-files.ts'
import { concludeLog } from './conclude-log.ts'
import { isLogImport } from './log-source.ts'

export interface AgainOptions {
  readonly projectDir: string
  readonly clock: Clock
}

/** Weighs the record again. An experiment that still runs concludes at its end, and is left as it is. */
export async function concludeAgain(
  store: OpenStore,
  experiment: ExperimentRow,
  { projectDir, clock }: AgainOptions,
): Promise<ExperimentResult> {
  if (experiment.verdict === undefined) return resultOf(store, experiment)
  if (isLogImport(experiment)) {
    await concludeLog(store, experiment, clock)
    return resultOf(store, await store.findExperiment(experiment.id))
  }
  const outputDir = outputDirOf(experiment, projectDir)
  return concludeExperiment(store, experiment, { outputDir, clock, wallS: experiment.wallS ?? 0 })
}

/** Writes the pages of an experiment anew where they lie on this machine, so that they hold what authors added. */
export async function refreshFiles(store: OpenStore, experiment: ExperimentRow, projectDir: string): Promise<void> {
  const dir = outputDirOf(experiment, projectDir)
  if (experiment.verdict === undefined || !(await isFolder(dir))) return
  const { evidence, runs } = await evidenceOf(store, experiment)
  await writeExperimentFiles({
    experiment,
    runs,
    evidence,
    text: experiment.conclusion ?? conclusionText(evidence),
    dir,
  })
}

/** Folder of an experiment's files; undefined where they lie on another machine or were deleted. */
export async function filesOf(experiment: ExperimentRow, projectDir: string): Promise<string | undefined> {
  const dir = outputDirOf(experiment, projectDir)
  return (await isFolder(dir)) ? dir : undefined
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
