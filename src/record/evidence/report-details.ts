// What a reader looks for behind the scores: tables of metrics, answers that were wrong, curves. All of it is bounded, whatever the size
// of the experiment. Texts of answers come from the files that recipe code does not see, with secrets masked.
import { readFile } from 'node:fs/promises'
import type { Evidence, Metrics, MetricTable, Mistake, ResultCurve, ResultTable } from '../../contracts/index.ts'
import { ScoredAnswer } from '../../contracts/index.ts'
import { createRedactor, ifPresent, type Redact, readSecretSource } from '../../kernel/index.ts'
import type { OpenStore, RunRow } from '../../store/index.ts'
import { answersFile } from '../files/experiment-folder.ts'
import { selectedEval } from './arm-scores.ts'
import { isReused } from './held-runs.ts'
import type { RecordedRun } from './weigh-evidence.ts'

interface ReportDetails {
  readonly tables: readonly ResultTable[]
  readonly mistakes: readonly Mistake[]
  readonly curves: readonly ResultCurve[]
}

/** `projectDir`: where answers lie; without it there are no mistakes. */
export async function reportDetails(
  store: OpenStore,
  recorded: readonly RecordedRun[],
  evidence: Evidence,
  projectDir?: string,
): Promise<ReportDetails> {
  const valid = recorded.filter(({ run }) => run.invalid === undefined && run.status === 'completed')
  return {
    tables: resultTables(valid, evidence),
    mistakes: projectDir === undefined ? [] : await mistakesOf(store, valid, evidence, projectDir),
    curves: await resultCurves(
      store,
      recorded.filter(({ run }) => run.invalid === undefined),
      evidence,
    ),
  }
}

/** Arms whose tables are kept: the best, then those of claims, then the others. */
const mostTableArms = 12

function resultTables(recorded: readonly RecordedRun[], evidence: Evidence): ResultTable[] {
  return armsInOrder(evidence)
    .slice(0, mostTableArms)
    .flatMap((arm) => {
      const own = lastStage(recorded.filter(({ run }) => run.arm === arm))
      return benchmarksOf(own).flatMap((benchmark) => {
        const evals = own.flatMap(({ run, evals }) => selectedEval(run, evals, benchmark) ?? [])
        const metrics = new Set(evals.flatMap(({ tables }) => Object.keys(tables ?? {})))
        return [...metrics].flatMap((metric): ResultTable[] => {
          const tables = evals.flatMap(({ tables }) => tables?.[metric] ?? [])
          const table = meanTable(tables)
          const split = evals[0]?.split ?? 'val'
          return table === undefined ? [] : [{ arm, benchmark, split, metric, n_runs: tables.length, table }]
        })
      })
    })
}

/** Cell by cell over runs; undefined where their rows or columns differ. */
function meanTable(tables: readonly MetricTable[]): MetricTable | undefined {
  const [first, ...others] = tables
  const shape = ({ rows, columns }: MetricTable) => JSON.stringify([rows, columns])
  if (first === undefined || others.some((each) => shape(each) !== shape(first))) return undefined
  const cells = first.cells.map((row, i) =>
    row.map((_, j) => {
      const values = tables.flatMap((each) => each.cells[i]?.[j] ?? [])
      return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0) / values.length
    }),
  )
  return { ...first, cells }
}

/** Wrong answers that are kept of each benchmark, and characters of each of their texts. */
const mostMistakes = 20
const mostChars = 2_000
/** Answers at or above it are right. */
const rightReward = 0.5

/** Of the best arm, the tasks that most of its answers get wrong first. */
async function mistakesOf(
  store: OpenStore,
  recorded: readonly RecordedRun[],
  evidence: Evidence,
  projectDir: string,
): Promise<Mistake[]> {
  const arm = evidence.best_arm ?? (evidence.arms.length === 1 ? evidence.arms[0]?.name : undefined)
  if (arm === undefined) return []
  const redact = createRedactor((await readSecretSource({ projectDir })).known)
  const own = lastStage(recorded.filter(({ run }) => run.arm === arm))
  const found: Mistake[] = []
  for (const benchmark of benchmarksOf(own)) {
    const answers: ScoredAnswer[] = []
    let split: Mistake['split'] = 'val'
    for (const { run, evals } of own) {
      const selected = selectedEval(run, evals, benchmark)
      if (selected === undefined) continue
      split = selected.split
      answers.push(...(await answersOf(store, run, projectDir, selected)))
    }
    found.push(...wrongTasks(answers, redact).map((each) => ({ arm, benchmark, split, ...each })))
  }
  return found
}

/** The answers of an evaluation; none where they were not kept. */
export async function answersOf(
  store: OpenStore,
  run: RunRow,
  projectDir: string,
  at: { benchmark: string; step?: number | undefined },
): Promise<ScoredAnswer[]> {
  const origin = isReused(run) ? await store.run(run.parentRun ?? '') : undefined
  return await readAnswers(answersFile(projectDir, origin ?? run, at))
}

async function readAnswers(file: string): Promise<ScoredAnswer[]> {
  const text = (await ifPresent('read', file, () => readFile(file, 'utf8'))) ?? ''
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return ScoredAnswer.safeParse(JSON.parse(line)).data ?? []
    } catch {
      return [] // a line that was cut short by a crash
    }
  })
}

function wrongTasks(answers: readonly ScoredAnswer[], redact: Redact) {
  const tasks = new Map<string, ScoredAnswer[]>()
  for (const each of answers) {
    const known = tasks.get(each.task_id)
    if (known === undefined) tasks.set(each.task_id, [each])
    else known.push(each)
  }
  return [...tasks.values()]
    .flatMap((all) => {
      const judged = all.filter(({ reward }) => reward !== null)
      const wrong = judged.filter(({ reward }) => (reward ?? 0) < rightReward)
      const [first] = wrong
      if (first === undefined) return []
      const text = (value: string) => redact([...value].slice(0, mostChars).join(''))
      const { expected } = first
      return [
        {
          task_id: first.task_id,
          instruction: text(first.instruction),
          expected:
            expected === undefined ? null : text(typeof expected === 'string' ? expected : JSON.stringify(expected)),
          answer: first.output === undefined ? null : text(commonest(wrong)),
          n_wrong: wrong.length,
          n_answers: judged.length,
        },
      ]
    })
    .sort((a, b) => b.n_wrong / b.n_answers - a.n_wrong / a.n_answers)
    .slice(0, mostMistakes)
}

function commonest(wrong: readonly ScoredAnswer[]): string {
  const counts = new Map<string, number>()
  for (const { output = '' } of wrong) counts.set(output, (counts.get(output) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

/** Runs that have curves, and points of each. */
const mostCurveRuns = 24
const mostPoints = 60
const losses = ['train_mean_nll', 'loss:sum', 'reward/mean', 'prompt/score']

/** The loss of training, or the first of what stands for it, and the evaluations in the loop. */
async function resultCurves(
  store: OpenStore,
  recorded: readonly RecordedRun[],
  { objective }: Evidence,
): Promise<ResultCurve[]> {
  const curves: ResultCurve[] = []
  for (const { run, evals } of recorded.slice(0, mostCurveRuns)) {
    const of = { run: run.name, arm: run.arm, seed: run.seed }
    const loss = await lossCurve(store, run.id, mostPoints)
    if (loss !== undefined && loss.points.length > 1) curves.push({ ...of, split: 'train', ...loss })
    for (const benchmark of new Set(evals.map((each) => each.benchmark))) {
      const inLoop = evals.filter((each) => each.benchmark === benchmark && each.step !== undefined)
      const metric = shownMetric(inLoop[0]?.metrics ?? {}, objective?.metric)
      if (metric === undefined || inLoop.length < 2) continue
      const points = inLoop
        .flatMap(({ step = 0, metrics }): [number, number][] => {
          const value = metrics[metric]
          return value === undefined ? [] : [[step, value]]
        })
        .sort(([a], [b]) => a - b)
      const split = inLoop[0]?.split ?? 'val'
      curves.push({ ...of, split, metric: `${benchmark}.${metric}`, points: points.slice(-mostPoints) })
    }
  }
  return curves
}

/** The loss of a training, or the first of what stands for it. */
export async function lossCurve(
  store: OpenStore,
  runId: string,
  maxPoints: number,
): Promise<{ metric: string; points: [number, number][] } | undefined> {
  const keys = await store.metricKeys(runId)
  const isIt = (key: string, name: string) => key === name || key.endsWith(`/${name}`)
  const key = losses.flatMap((name) => keys.filter((each) => isIt(each, name)))[0]
  if (key === undefined) return undefined
  const points = await store.curve({ runId, key, maxPoints })
  return { metric: key, points: points.map(({ step, mean }) => [step, mean]) }
}

function shownMetric(metrics: Metrics, wanted: string | undefined): string | undefined {
  return wanted !== undefined && wanted in metrics ? wanted : Object.keys(metrics)[0]
}

function armsInOrder({ arms, best_arm, claim, claims }: Evidence): string[] {
  const claimed = [claim, ...(claims ?? [])].flatMap((each) =>
    each === null ? [] : each.pairs.flatMap(({ treatment, baseline }) => [treatment, baseline]),
  )
  const names = arms.map(({ name }) => name)
  const first = [best_arm ?? '', ...claimed].filter((name) => names.includes(name))
  return [...new Set([...first, ...names])]
}

function lastStage(recorded: readonly RecordedRun[]): RecordedRun[] {
  const last = Math.max(0, ...recorded.map(({ run }) => run.stage ?? 0))
  return recorded.filter(({ run }) => (run.stage ?? 0) === last)
}

function benchmarksOf(recorded: readonly RecordedRun[]): string[] {
  return [...new Set(recorded.flatMap(({ evals }) => evals.map(({ benchmark }) => benchmark)))]
}
