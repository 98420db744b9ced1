// The research record on disk, no dashboard needed: `experiment.md` for the whole, `hypothesis.md`, `conclusion.md` and
// `run_result.json` for every run.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BaselineScore, Evidence, Forgetting, RunResult } from '../../contracts/index.ts'
import { writeFileAtomic } from '../../kernel/index.ts'
import { number, type RecordedRun, runFolder, selectedEval } from '../../record/index.ts'
import type { ExperimentRow } from '../../store/index.ts'

export async function writeExperimentFiles(options: {
  experiment: ExperimentRow
  runs: readonly RecordedRun[]
  evidence: Evidence
  baselines?: readonly BaselineScore[] | undefined
  text: string
  dir: string
}): Promise<void> {
  const { experiment, runs, evidence, baselines = [], text, dir } = options
  await mkdir(dir, { recursive: true })
  await writeFileAtomic(join(dir, 'experiment.md'), experimentPage(experiment, evidence, baselines, text))
  for (const recorded of runs) {
    const folder = runFolder(dir, recorded.run.name)
    await mkdir(join(folder, 'logs'), { recursive: true })
    await writeFileAtomic(
      join(folder, 'logs', 'hypothesis.md'),
      `- hypothesis: ${experiment.hypothesis ?? 'none was given'}\n`,
    )
    await writeFileAtomic(join(folder, 'logs', 'conclusion.md'), runConclusion(experiment, recorded, text))
    await writeFileAtomic(join(folder, 'run_result.json'), `${JSON.stringify(runResult(recorded), null, 2)}\n`)
  }
}

function experimentPage(
  { id, name, hypothesis, words }: ExperimentRow,
  evidence: Evidence,
  baselines: readonly BaselineScore[],
  text: string,
): string {
  const metric = evidence.objective === null ? 'score' : `${evidence.objective.benchmark}.${evidence.objective.metric}`
  const rows = evidence.arms.map(
    ({ name: arm, status, score, n_failed }) =>
      `| ${cell(arm)} | ${status} | ${score === null ? '' : number(score.mean)} | ${score?.ci == null ? '' : `${number(score.ci[0])} to ${number(score.ci[1])}`} | ${score?.n ?? 0} | ${n_failed} |`,
  )
  return [
    `# ${name}`,
    '',
    `- id: ${id}`,
    `- hypothesis: ${hypothesis ?? 'none was given'}`,
    `- verdict: ${evidence.verdict}`,
    `- conclusion: ${text}`,
    ...words.map((word) => `- ${word.author}: ${word.text}`),
    '',
    `| arm | status | ${cell(metric)} | 90 % interval | seeds | failed |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...(evidence.forgetting === undefined ? [] : forgettingTable(evidence.forgetting)),
    ...baselineLines(baselines),
  ].join('\n')
}

function baselineLines(baselines: readonly BaselineScore[]): string[] {
  if (baselines.length === 0) return []
  const rows = baselines.flatMap(({ model, benchmark, metrics, intervals, cost_usd, error }) => {
    const scores = Object.entries(metrics).filter(([metric]) => !metric.includes('['))
    if (error !== undefined) return [`| ${cell(model)} | ${cell(benchmark)} | ${error.code} | | |`]
    return scores.map(([metric, value]) => {
      const interval = intervals?.[metric]
      const range = interval === undefined ? '' : `${number(interval[0])} to ${number(interval[1])}`
      return `| ${cell(model)} | ${cell(`${benchmark}.${metric}`)} | ${number(value)} | ${range} | ${cost_usd === null ? '' : number(cost_usd)} |`
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

function runConclusion({ hypothesis }: ExperimentRow, { run, evals }: RecordedRun, text: string): string {
  const benchmarks = [...new Set(evals.map(({ benchmark }) => benchmark))]
  const scores = benchmarks.flatMap((benchmark) => {
    const selected = selectedEval(run, evals, benchmark)
    if (selected === undefined) return []
    const values = Object.entries(selected.metrics).map(([metric, value]) => `${metric} ${number(value)}`)
    return [
      `- ${benchmark} (${selected.split}${selected.step === undefined ? '' : `, step ${selected.step + 1}`}): ${values.join(', ')}`,
    ]
  })
  return [
    `- hypothesis: ${hypothesis ?? 'none was given'}`,
    `- status: ${run.status}${run.error === undefined ? '' : ` (${run.error.code}: ${run.error.message})`}`,
    `- conclusion of the experiment: ${text}`,
    ...scores,
    '',
  ].join('\n')
}

function runResult({ run }: RecordedRun): RunResult {
  const ended = run.status === 'pending' || run.status === 'running' ? 'cancelled' : run.status
  return { run_id: run.id, status: ended, metrics: run.metrics, artifacts: [], error: run.error }
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
