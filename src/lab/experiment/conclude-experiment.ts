// The end of an experiment: evidence from the record, the verdict, the words, and the files that hold them.
import { mkdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { BaselineScore, Evidence, ExperimentResult, RunResult } from '../../contracts/index.ts'
import { type Clock, writeFileAtomic, writeForeignFile } from '../../kernel/index.ts'
import {
  answersFolder,
  besidesRuns,
  concludeLog,
  conclusionText,
  evidenceOf,
  experimentResult,
  filesOf,
  isDryRun,
  isLogImport,
  judgeCosts,
  number,
  outputDirOf,
  type RecordedRun,
  reportDetails,
  resultOf,
  runArtifacts,
  runFolder,
  selectedEval,
  stoppedRuns,
} from '../../record/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { appendEvents } from './begin-experiment.ts'
import { experimentPage, mistakesPage } from './experiment-page.ts'

/** Writes the conclusion of an experiment whose runs have all ended. The record comes last: once it says so, all is there. */
export async function concludeExperiment(
  store: OpenStore,
  experiment: ExperimentRow,
  options: {
    outputDir: string
    projectDir?: string | undefined
    clock: Clock
    wallS: number
    lease?: Lease | undefined
  },
): Promise<ExperimentResult> {
  const { outputDir, projectDir } = options
  const { evidence, runs } = await evidenceOf(store, experiment, projectDir)
  const rows = runs.map(({ run }) => run)
  const besides = await besidesRuns(store, experiment.id, runs, { projectDir, files: outputDir })
  const { baselines = [], trips, failures, judges, leaks } = besides
  const text = conclusionText(evidence, {
    isDry: isDryRun(experiment),
    baselines,
    trips,
    failures,
    judges,
    leaks,
    stopped: stoppedRuns(rows),
  })
  const details = await reportDetails(store, runs, evidence, projectDir)
  const pages = { experiment, runs, evidence, baselines, details, text, dir: outputDir, projectDir }
  await writeExperimentFiles(store, pages)
  const ids = rows.map(({ id }) => id)
  const spent = [...rows.map((run) => run.costUsd), ...baselines.map((each) => each.cost_usd)]
  const costs = [...spent.flatMap((cost) => cost ?? []), ...(await judgeCosts(store, ids))]
  const costUsd = costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)
  await store.verdicts.evidence(experiment.id, evidence, { wallS: options.wallS, costUsd })
  const finished = {
    type: 'experiment.finished' as const,
    status: evidence.verdict === 'failed' ? ('failed' as const) : ('completed' as const),
    verdict: evidence.verdict,
    conclusion: text,
    best_arm: evidence.best_arm ?? undefined,
  }
  await appendEvents({ ...options, store, experiment }, [finished])
  return experimentResult(await store.findExperiment(experiment.id), runs, evidence, { ...besides, details })
}

/** Weighs the record again, say after a run was marked invalid. One that still runs concludes at its end, and is left as it is. */
export async function concludeAgain(
  store: OpenStore,
  experiment: ExperimentRow,
  { projectDir, clock }: { projectDir: string; clock: Clock },
): Promise<ExperimentResult> {
  if (experiment.verdict === undefined) return resultOf(store, experiment, projectDir)
  if (isLogImport(experiment)) {
    await concludeLog(store, experiment, clock)
    return resultOf(store, await store.findExperiment(experiment.id), projectDir)
  }
  const outputDir = outputDirOf(experiment, projectDir)
  return concludeExperiment(store, experiment, { outputDir, projectDir, clock, wallS: experiment.wallS ?? 0 })
}

/** Writes the pages of an experiment anew where they lie on this machine, so that they hold what authors added. */
export async function refreshFiles(store: OpenStore, experiment: ExperimentRow, projectDir: string): Promise<void> {
  const dir = await filesOf(experiment, projectDir)
  if (experiment.verdict === undefined || dir === undefined) return
  const { evidence, runs } = await evidenceOf(store, experiment, projectDir)
  const text = experiment.conclusion ?? conclusionText(evidence)
  const { baselines } = await besidesRuns(store, experiment.id, runs)
  const details = await reportDetails(store, runs, evidence, projectDir)
  await writeExperimentFiles(store, { experiment, runs, evidence, baselines, details, text, dir, projectDir })
}

/**
 * The research record on disk, no dashboard needed: `experiment.md` for the whole, `hypothesis.md`, `conclusion.md` and
 * `run_result.json` for every run.
 */
async function writeExperimentFiles(
  store: OpenStore,
  options: {
    experiment: ExperimentRow
    runs: readonly RecordedRun[]
    evidence: Evidence
    baselines?: readonly BaselineScore[] | undefined
    details: Awaited<ReturnType<typeof reportDetails>>
    text: string
    dir: string
    projectDir: string | undefined
  },
): Promise<void> {
  const { experiment, runs, evidence, baselines = [], details, text, dir, projectDir } = options
  const hypothesis = `- hypothesis: ${experiment.hypothesis ?? 'none was given'}`
  await mkdir(dir, { recursive: true })
  const { mistakes } = details
  const file = join(answersFolder(projectDir ?? dir), experiment.id, 'mistakes.md')
  const mistakesFile = mistakes.length === 0 ? undefined : relative(dir, file)
  if (mistakesFile !== undefined) {
    await mkdir(dirname(file), { recursive: true })
    await writeFileAtomic(file, mistakesPage(experiment.name, mistakes))
  }
  const page = experimentPage({ experiment, runs, evidence, baselines, details, text, mistakesFile })
  await writeFileAtomic(join(dir, 'experiment.md'), page)
  for (const recorded of runs) {
    const folder = runFolder(dir, recorded.run.name)
    const place = relative(dir, folder).split(sep)
    const write = (at: readonly string[], content: string) => writeForeignFile(dir, [...place, ...at], content) // recipe code wrote there
    await write(['logs', 'hypothesis.md'], `${hypothesis}\n`)
    await write(['logs', 'conclusion.md'], runConclusion(hypothesis, recorded, text))
    await write(['run_result.json'], `${JSON.stringify(await runResult(store, recorded), null, 2)}\n`)
  }
}

function runConclusion(hypothesis: string, { run, evals }: RecordedRun, text: string): string {
  const benchmarks = [...new Set(evals.map(({ benchmark }) => benchmark))]
  const scores = benchmarks.flatMap((benchmark) => {
    const selected = selectedEval(run, evals, benchmark)
    if (selected === undefined) return []
    const values = Object.entries(selected.metrics).map(([metric, value]) => `${metric} ${number(value)}`)
    const at = selected.step === undefined ? '' : `, step ${selected.step + 1}`
    return [`- ${benchmark} (${selected.split}${at}): ${values.join(', ')}`]
  })
  return [
    hypothesis,
    `- status: ${run.status}${run.error === undefined ? '' : ` (${run.error.code}: ${run.error.message})`}`,
    `- conclusion of the experiment: ${text}`,
    ...scores,
    '',
  ].join('\n')
}

async function runResult(store: OpenStore, { run }: RecordedRun): Promise<RunResult> {
  const ended = run.status === 'pending' || run.status === 'running' ? 'cancelled' : run.status
  const artifacts = await runArtifacts(store, run)
  return { run_id: run.id, status: ended, metrics: run.metrics, artifacts, error: run.error }
}
