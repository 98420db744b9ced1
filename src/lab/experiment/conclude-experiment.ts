// The end of an experiment: evidence from the record, the verdict, the words, and the files that hold them.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BaselineScore, Evidence, ExperimentResult, Forgetting, RunResult } from '../../contracts/index.ts'
import { type Clock, writeFileAtomic } from '../../kernel/index.ts'
import {
  aboutOf,
  armTags,
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
  resultOf,
  runArtifacts,
  runFolder,
  selectedEval,
  stoppedRuns,
} from '../../record/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { appendEvents } from './begin-experiment.ts'

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
  const { evidence, runs } = await evidenceOf(store, experiment)
  const rows = runs.map(({ run }) => run)
  const besides = await besidesRuns(store, experiment.id, runs, { projectDir, files: outputDir })
  const { baselines = [], trips, failures, judges } = besides
  const text = conclusionText(evidence, {
    isDry: isDryRun(experiment),
    baselines,
    trips,
    failures,
    judges,
    stopped: stoppedRuns(rows),
  })
  await writeExperimentFiles(store, { experiment, runs, evidence, baselines, text, dir: outputDir })
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
  return experimentResult(await store.findExperiment(experiment.id), runs, evidence, besides)
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
  const { evidence, runs } = await evidenceOf(store, experiment)
  const text = experiment.conclusion ?? conclusionText(evidence)
  const { baselines } = await besidesRuns(store, experiment.id, runs)
  await writeExperimentFiles(store, { experiment, runs, evidence, baselines, text, dir })
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
    text: string
    dir: string
  },
): Promise<void> {
  const { experiment, runs, evidence, baselines = [], text, dir } = options
  const hypothesis = `- hypothesis: ${experiment.hypothesis ?? 'none was given'}`
  await mkdir(dir, { recursive: true })
  await writeFileAtomic(join(dir, 'experiment.md'), experimentPage(experiment, evidence, baselines, text))
  for (const recorded of runs) {
    const folder = runFolder(dir, recorded.run.name)
    await mkdir(join(folder, 'logs'), { recursive: true })
    await writeFileAtomic(join(folder, 'logs', 'hypothesis.md'), `${hypothesis}\n`)
    await writeFileAtomic(join(folder, 'logs', 'conclusion.md'), runConclusion(hypothesis, recorded, text))
    await writeFileAtomic(
      join(folder, 'run_result.json'),
      `${JSON.stringify(await runResult(store, recorded), null, 2)}\n`,
    )
  }
}

function experimentPage(
  { id, name, hypothesis, words, plan, tags, parentId }: ExperimentRow,
  evidence: Evidence,
  baselines: readonly BaselineScore[],
  text: string,
): string {
  const metric = evidence.objective === null ? 'score' : `${evidence.objective.benchmark}.${evidence.objective.metric}`
  const rows = evidence.arms.map(({ name: arm, status, score, n_failed }) => {
    const mean = score === null ? '' : number(score.mean)
    // Without a benchmark there is nothing that seeds could be scored by.
    const nSeeds =
      evidence.objective === null ? (plan.arms.find((each) => each.name === arm)?.seeds.length ?? 0) : score?.n
    return `| ${cell(arm)} | ${status} | ${mean} | ${range(score?.ci)} | ${nSeeds ?? 0} | ${n_failed} |`
  })
  return [
    `# ${name}`,
    '',
    `- id: ${id}`,
    ...aboutLines(plan, { tags, parentId }),
    `- hypothesis: ${hypothesis ?? 'none was given'}`,
    `- verdict: ${evidence.verdict}`,
    `- conclusion: ${text}`,
    ...words.map((word) => `- ${word.author}: ${word.text}`),
    '',
    `| arm | status | ${cell(metric)} | 90 % interval on tasks like these | seeds | failed |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...scoreLines(evidence.arms),
    ...(evidence.forgetting === undefined ? [] : forgettingTable(evidence.forgetting)),
    ...baselineLines(baselines),
  ].join('\n')
}

function aboutLines(
  plan: ExperimentRow['plan'],
  { tags, parentId }: Pick<ExperimentRow, 'tags' | 'parentId'>,
): string[] {
  const { description, notes, project_goal_id, benchmarks = [] } = aboutOf(plan)
  const arms = plan.arms.map(({ name }) => ({ name, tags: armTags(plan, name) ?? [] }))
  const lines: [string, string | undefined][] = [
    ['description', description],
    ['notes', notes],
    ['goal', project_goal_id],
    ['follows', parentId],
    ['tags', tags.join(', ') || undefined],
    ...[...arms, ...benchmarks].map((each): [string, string | undefined] => [
      `tags of ${each.name}`,
      each.tags.join(', ') || undefined,
    ]),
  ]
  return lines.flatMap(([label, text]) =>
    text === undefined ? [] : [`- ${label}: ${text.replaceAll(/\s*\n\s*/g, ' ')}`],
  )
}

/** Every arm on every benchmark, by every metric: val and test side by side. */
function scoreLines(arms: Evidence['arms']): string[] {
  const all = arms.flatMap(({ scores = [] }) => scores)
  const columns = new Map(all.map((each) => [`${each.benchmark}.${each.metric}`, each]))
  if (columns.size < 2) return [] // it is in the table above
  const heads = [...columns].map(([name, { split, selects }]) =>
    cell(`${name} (${split}${selects ? ', selected' : ''})`),
  )
  const rows = arms.map(({ name: arm, scores = [] }) => {
    const cells = [...columns.keys()].map((name) => {
      const found = scores.find((each) => `${each.benchmark}.${each.metric}` === name)?.score
      return found === undefined ? '' : `${number(found.mean)}${found.ci === null ? '' : ` (${range(found.ci)})`}`
    })
    return `| ${[cell(arm), ...cells].join(' | ')} |`
  })
  return [
    'Scores of the selected checkpoints, with 90 % intervals.',
    '',
    `| arm | ${heads.join(' | ')} |`,
    `| --- | ${heads.map(() => '---').join(' | ')} |`,
    ...rows,
    '',
  ]
}

function baselineLines(baselines: readonly BaselineScore[]): string[] {
  if (baselines.length === 0) return []
  const rows = baselines.flatMap(({ model, benchmark, metrics, intervals, cost_usd, error }) => {
    const scores = Object.entries(metrics).filter(([metric]) => !metric.includes('['))
    if (error !== undefined)
      return [`| ${cell(model)} | ${cell(benchmark)} | ${cell(`${error.code}: ${error.message}`)} | | |`]
    return scores.map(([metric, value]) => {
      const name = cell(`${benchmark}.${metric}`)
      const usd = cost_usd === null ? '' : number(cost_usd)
      return `| ${cell(model)} | ${name} | ${number(value)} | ${range(intervals?.[metric])} | ${usd} |`
    })
  })
  return [
    'Models scored for comparison; none of them is an arm.',
    '',
    '| model | metric | score | 90 % interval over tasks | USD |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ]
}

/** Rows: after which dataset. Columns: benchmarks. */
function forgettingTable({ benchmarks, stages, mix, lost }: Forgetting): string[] {
  const line = (label: string, values: readonly (number | null)[]) =>
    `| ${cell(label)} | ${values.map((value) => (value === null ? '' : number(value))).join(' | ')} |`
  return [
    `| after | ${benchmarks.map(({ name, metric }) => cell(`${name}.${metric}`)).join(' | ')} |`,
    `| --- | ${benchmarks.map(() => '---').join(' | ')} |`,
    ...stages.map(({ arm, scores }) => line(arm, scores)),
    line('lost since the best', lost),
    ...(mix === null ? [] : [line(`${mix.arm} (all at once)`, mix.scores)]),
    '',
  ]
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

function range(interval: readonly [number, number] | null | undefined): string {
  return interval == null ? '' : `${number(interval[0])} to ${number(interval[1])}`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
