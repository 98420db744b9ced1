// An experiment as people read it: its arms with their scores, its runs, what was concluded.
import type {
  BenchmarkScore,
  Evidence,
  ExperimentResult,
  PairEvidence,
  RunRow,
  Score,
  Verdict,
} from '../../contracts/index.ts'
import type { Colors } from './colors.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import { countText, durationText, numberText, rangeText, shorten } from './text.ts'

type Style = Pick<Output, 'colors' | 'width'>

/** A sweep of hundreds of arms is counted, not read. */
const shownArms = 20
const shownRuns = 30

/** How a verdict is coloured. */
export function verdictPaint(verdict: Verdict, colors: Colors): (text: string) => string {
  return {
    supported: colors.green,
    refuted: colors.yellow,
    inconclusive: colors.yellow,
    exploratory: colors.cyan,
    failed: colors.red,
  }[verdict]
}

/** Arms by score, the best first; those without one at the end. */
export function armTable({ arms, objective, best_arm }: ExperimentResult, { colors, width }: Style): string {
  const sign = objective?.direction === 'min' ? 1 : -1
  const sorted = [...arms].sort((a, b) => byScore(a.score?.mean, b.score?.mean, sign))
  const hasErrors = arms.some(({ error }) => error !== undefined)
  const tests = testColumns(arms, objective?.metric)
  // Without a benchmark there is nothing that seeds could be scored by.
  const isScored = objective !== null || arms.some(({ score }) => score !== null)
  const best = arms.find(({ name }) => name === best_arm)?.score?.mean
  const isBest = ({ name, score }: ExperimentResult['arms'][number]) =>
    name === best_arm || (name !== 'base_model' && best !== undefined && score?.mean === best)
  const rows = sorted.slice(0, shownArms).map((arm) => {
    const { name, status, score, scores = [], seeds, error } = arm
    return [
      isBest(arm) && arms.length > 1 ? `${name} *` : name,
      status,
      ...(isScored ? scoreCells(score) : []),
      ...tests.flatMap((column) => scoreCells(scores.find((each) => nameOf(each) === column)?.score)),
      isScored ? `${score?.n ?? 0} of ${seeds.length}` : String(seeds.length),
      ...(hasErrors ? [error === undefined ? '' : shorten(`${error.code}: ${error.message}`, 200)] : []),
    ]
  })
  const head = [
    'ARM',
    'STATUS',
    ...(isScored ? [objective?.metric ?? 'SCORE', '90 % INTERVAL'] : []),
    ...tests.flatMap((column) => [column, '90 % INTERVAL']),
    'SEEDS',
    ...(hasErrors ? ['ERROR'] : []),
  ]
  const rest = arms.length - shownArms
  return [
    table(rows, { head, width, paintHead: colors.bold }),
    ...(rest > 0 ? [`... and ${countText(rest, 'more arm')}`] : []),
    ...(tests.length > 0 && objective !== null
      ? [`selected by ${objective.metric}; ${tests.join(', ')} of the selected checkpoints`]
      : []),
  ].join('\n')
}

/** A table of arms has room for so many beside the objective; `--json` and the report hold all. */
const shownTests = 2

/** Of each test benchmark the metric of the objective, or its first. */
function testColumns(arms: ExperimentResult['arms'], objective: string | undefined): string[] {
  const metric = objective?.slice(objective.indexOf('.') + 1)
  const scores = arms.flatMap((arm) => arm.scores ?? []).filter(({ split }) => split === 'test')
  const benchmarks = [...new Set(scores.map(({ benchmark }) => benchmark))].slice(0, shownTests)
  return benchmarks.flatMap((benchmark) => {
    const own = scores.filter((each) => each.benchmark === benchmark)
    const shown = own.find((each) => each.metric === metric) ?? own[0]
    return shown === undefined ? [] : [nameOf(shown)]
  })
}

function nameOf({ benchmark, metric }: BenchmarkScore): string {
  return `${benchmark}.${metric}`
}

function scoreCells(score: Score | null | undefined): [string, string] {
  return [
    score == null ? '' : numberText(score.mean),
    score?.ci == null ? '' : `${rangeText(score.ci)}${partOf(score)}`,
  ]
}

// An interval is over seeds and tasks unless it says which of them it lacks.
function partOf({ over, n, too_few }: Score): string {
  if (too_few !== undefined) return ` (rough: ${countText(too_few.tasks, 'task')} of ${too_few.label})`
  if (over === 'seeds') return ' (seeds alone)'
  return over === 'tasks' && n === 1 ? ' (tasks alone)' : ''
}

function byScore(a: number | undefined, b: number | undefined, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return sign * (a - b)
}

export interface ShownRun {
  readonly run: RunRow
  /** Of the selected checkpoint: `val.pass@1` -> value. */
  readonly scores: Readonly<Record<string, number>>
}

/** Runs in the order of the plan. */
export function runTable(runs: readonly ShownRun[], { colors, width }: Style): string {
  const metrics = [...new Set(runs.flatMap(({ scores }) => Object.keys(scores)))].slice(0, 6)
  const claimed = [...new Set(runs.flatMap(({ run }) => Object.keys(run.claimed ?? {})))].slice(0, 2)
  const isLog = runs.some(({ run }) => run.kept !== undefined)
  const isMeasured = metrics.length > 0 // what a run says of itself is shown where nothing was measured
  const rows = runs
    .slice(0, shownRuns)
    .map(({ run, scores }) => [
      run.name,
      run.invalid === undefined ? statusText(run) : `invalid: ${shorten(run.invalid, 60)}`,
      ...(isLog ? [run.kept === true ? 'kept' : ''] : []),
      ...(isLog && isMeasured ? metrics.map((key) => valueText(scores[key])) : []),
      ...(isLog && !isMeasured ? claimed.map((key) => claimedText(run.claimed?.[key])) : []),
      ...(isLog
        ? [shorten(run.description ?? '', 80)]
        : [
            String(run.seed),
            run.numSteps === undefined ? '' : String(run.numSteps),
            run.bestStep === undefined ? '' : String(run.bestStep + 1),
            run.wallS === undefined ? '' : durationText(run.wallS),
            ...metrics.map((key) => valueText(scores[key])),
          ]),
    ])
  const head = isLog
    ? ['RUN', 'STATUS', 'KEPT', ...(isMeasured ? metrics : claimed.map((key) => `${key} (claimed)`)), 'CHANGE']
    : ['RUN', 'STATUS', 'SEED', 'STEPS', 'BEST STEP', 'TIME', ...metrics]
  const text = table(rows, { head, width, paintHead: colors.bold })
  return runs.length > shownRuns ? `${text}\n... and ${countText(runs.length - shownRuns, 'more run')}` : text
}

function statusText({ status, mode }: RunRow): string {
  return mode === 'reused' ? 'reused' : status
}

// As many digits as a log gives: its runs differ in the last ones.
function claimedText(value: number | undefined): string {
  return value === undefined ? '' : String(Number(value.toPrecision(8)))
}

function valueText(value: number | undefined): string {
  return value === undefined ? '' : numberText(value)
}

/** What a claim's comparison found, one line each. */
export function claimLines({ claim, claims }: Evidence): string[] {
  if (claims !== undefined) {
    return claims.flatMap((each) => {
      if (each === null) return []
      const where = each.baseline_benchmark === undefined ? `${each.benchmark}.${each.metric}` : each.metric
      const chance = `p ${numberText(each.p ?? 1)}, adjusted ${numberText(each.p_adjusted ?? 1)}`
      return linesOf([each.overall]).map((line) => `${where}: ${line} (${chance})`)
    })
  }
  return claim === null ? [] : linesOf(claim.pairs)
}

function linesOf(pairs: readonly PairEvidence[]): string[] {
  return pairs.map((pair) => {
    const { treatment, baseline, effect, interval, over, seed_interval = null, confidence, verdict, too_few } = pair
    const percent = `${numberText(confidence * 100)} %`
    const of = { both: ' on tasks like these', tasks: ' over tasks', seeds: ' over seeds' }[over ?? 'seeds']
    const range =
      interval === null
        ? 'no interval'
        : `${percent} interval ${rangeText(interval)}${of}${too_few === undefined ? '' : `, not calibrated: ${countText(too_few.tasks, 'task')} of class ${too_few.label}`}`
    const detail = over !== 'both' || seed_interval === null ? '' : `; on these very tasks ${rangeText(seed_interval)}`
    const size = effect === 0 ? 'a tie' : `${effect > 0 ? '+' : ''}${numberText(effect)}`
    return `${treatment} against ${baseline}: ${size} (${range}${detail}), ${verdict}`
  })
}
