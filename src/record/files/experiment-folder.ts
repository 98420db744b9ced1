// Where an experiment's files lie: its folder, those of its runs, and what their attempts wrote.
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ifPresent } from '../../kernel/index.ts'
import type { ExperimentRow, RunRow } from '../../store/index.ts'

/** Folder of an experiment: `<stamp>_<name>` below `output_dir`, or below `.evsys/runs`. */
export function outputDirOf(
  { createdAt, name, plan }: Pick<ExperimentRow, 'createdAt' | 'name' | 'plan'>,
  projectDir: string,
): string {
  const stamp = createdAt.slice(0, 23).replace(/[T:.]/g, '-')
  return join(plan.experiment.output_dir ?? join(projectDir, '.evsys', 'runs'), `${stamp}_${name}`)
}

/** Folder of a run inside the experiment's. */
export function runFolder(outputDir: string, runName: string): string {
  return join(outputDir, runName)
}

/** Expected answers, hidden from recipe code like the benchmarks that they come from. */
export function answersFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'answers')
}

/** The answers of one evaluation with what was asked, what was expected and the reward: a line of JSON each. */
export function answersFile(
  projectDir: string,
  run: Pick<RunRow, 'experimentId' | 'name'>,
  { benchmark, step }: { benchmark: string; step?: number | undefined },
): string {
  return join(answersFolder(projectDir), run.experimentId, run.name, `${benchmark}-${step ?? 'final'}.jsonl`)
}

/** The answers of one evaluation as they were scored. Beside the folder of the run, in which its code writes. */
export function predictionsFile(
  runDir: string,
  { benchmark, step }: { benchmark: string; step?: number | undefined },
): string {
  return join(dirname(runDir), 'predictions', basename(runDir), `${benchmark}-${step ?? 'final'}.jsonl`)
}

/** What the evaluator keeps of clients that it asks. Recipe code could put answers there, so it does not see it. */
export function evaluationsFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'evaluations')
}

/** The same of an evaluation outside of runs. */
export function evalAnswersFile(projectDir: string, evalId: string): string {
  return join(answersFolder(projectDir), 'evals', `${evalId}.jsonl`)
}

/** What an attempt at a run wrote. */
export function segmentFile(runDir: string, attempt: number): string {
  return join(runDir, 'segments', `${attempt}.jsonl`)
}

/** Attempts that have a segment, in order. */
export async function segmentNumbers(runDir: string): Promise<number[]> {
  const folder = join(runDir, 'segments')
  const names = (await ifPresent('list', folder, () => readdir(folder))) ?? []
  return names.flatMap((name) => Number(/^([1-9]\d{0,8})\.jsonl$/.exec(name)?.[1] ?? [])).sort((a, b) => a - b)
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
