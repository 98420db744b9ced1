// The pages of an experiment that people read without evsys: `experiment.md`, and the wrong answers with their texts.
import type {
  BaselineScore,
  Evidence,
  Forgetting,
  Mistake,
  ResultCurve,
  ResultTable,
  Score,
} from '../../contracts/index.ts'
import {
  aboutOf,
  armTags,
  claimedMetric,
  isReused,
  number,
  type RecordedRun,
  type reportDetails,
  roughText,
} from '../../record/index.ts'
import type { ExperimentRow } from '../../store/index.ts'

interface ExperimentPageOptions {
  readonly experiment: ExperimentRow
  readonly runs: readonly RecordedRun[]
  readonly evidence: Evidence
  readonly baselines?: readonly BaselineScore[] | undefined
  readonly details: Pick<Awaited<ReturnType<typeof reportDetails>>, 'tables' | 'curves'>
  /** The conclusion. */
  readonly text: string
  /** Where mistakes are listed with their texts; absent: there are none. */
  readonly mistakesFile?: string | undefined
}

/** `experiment.md`. It holds no expected answer: recipe code of later experiments may read it. */
export function experimentPage({
  experiment: { id, name, hypothesis, words, plan, tags, parentId },
  runs,
  evidence,
  baselines = [],
  details,
  text,
  mistakesFile,
}: ExperimentPageOptions): string {
  const metric = evidence.objective === null ? 'score' : `${evidence.objective.benchmark}.${evidence.objective.metric}`
  const rows = evidence.arms.map(({ name: arm, status, score, n_failed }) => {
    const mean = score === null ? '' : number(score.mean)
    // Without a benchmark there is nothing that seeds could be scored by.
    const nSeeds =
      evidence.objective === null ? (plan.arms.find((each) => each.name === arm)?.seeds.length ?? 0) : score?.n
    return `| ${cell(arm)} | ${status} | ${mean} | ${range(score?.ci)}${rough(score?.too_few)} | ${nSeeds ?? 0} | ${n_failed} |`
  })
  const reused = runs.filter(({ run }) => isReused(run)).length
  return [
    `# ${name}`,
    '',
    `- id: ${id}`,
    ...aboutLines(plan, { tags, parentId }),
    `- hypothesis: ${hypothesis ?? 'none was given'}`,
    `- verdict: ${evidence.verdict}`,
    `- conclusion: ${text}`,
    ...(reused === 0
      ? []
      : [`- reused: ${reused} of ${runs.length} runs are of earlier experiments; they are no fresh seeds`]),
    ...words.map((word) => `- ${word.author}: ${word.text}`),
    '',
    `| arm | status | ${cell(metric)} | 90 % interval on tasks like these | seeds | failed |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...scoreLines(evidence.arms),
    ...(evidence.forgetting === undefined ? [] : forgettingTable(evidence.forgetting)),
    ...claimLines(evidence),
    ...details.tables.flatMap(tableLines),
    ...baselineLines(baselines),
    ...curveLines(details.curves),
    ...(mistakesFile === undefined ? [] : [`Wrong answers with their texts: ${mistakesFile}`, '']),
  ].join('\n')
}

/** Several claims, with their raw and adjusted p-values. */
function claimLines({ claims }: Evidence): string[] {
  if (claims === undefined) return []
  const rows = claims.map((claim, i) => {
    if (claim === null) return `| ${i + 1} | | | | | | | its arms have no scores in common |`
    const { overall, p, p_adjusted } = claim
    const { treatment, baseline, effect, interval, verdict } = overall
    const chance = [p, p_adjusted].map((each) => (each === undefined ? '' : number(each)))
    const numbers = [number(effect), `${range(interval)}${rough(overall.too_few)}`, ...chance]
    return `| ${[i + 1, cell(treatment), cell(baseline), cell(claimedMetric(claim)), ...numbers, verdict].join(' | ')} |`
  })
  return [
    'Claims; verdicts and intervals are adjusted by Holm over all of them.',
    '',
    '| claim | treatment | baseline | metric | effect | interval | p | adjusted p | verdict |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ]
}

function tableLines({ arm, benchmark, split, metric, n_runs, table }: ResultTable): string[] {
  const mean = n_runs === 1 ? '' : `, mean of ${n_runs} runs`
  const values = (row: number) => table.columns.map((_, column) => cellText(table.cells[row]?.[column]))
  return [
    `${cell(arm)} on ${benchmark} (${split}): ${metric}${mean}.`,
    '',
    `| ${[table.row_title ?? '', ...table.columns].map(cell).join(' | ')} |`,
    `| ${['', ...table.columns].map(() => '---').join(' | ')} |`,
    ...table.rows.map((name, row) => `| ${[cell(name), ...values(row)].join(' | ')} |`),
    '',
  ]
}

function cellText(value: number | null | undefined): string {
  return value == null ? '' : number(value)
}

/** A curve in words: its ends, and its best where that is neither. */
function curveLines(curves: readonly ResultCurve[]): string[] {
  if (curves.length === 0) return []
  const rows = curves.map(({ run, split, metric, points }) => {
    const [first, last] = [points[0], points.at(-1)]
    const at = (point: readonly [number, number] | undefined) =>
      point === undefined ? '' : `${number(point[1])} (step ${point[0] + 1})`
    const values = points.map(([, value]) => value)
    const ends = `${number(Math.min(...values))} to ${number(Math.max(...values))}`
    return `| ${[cell(run), split, cell(metric), at(first), at(last), ends].join(' | ')} |`
  })
  return ['| run | split | metric | first | last | range |', '| --- | --- | --- | --- | --- | --- |', ...rows, '']
}

/** `mistakes.md`, beside the answers that recipe code does not see. */
export function mistakesPage(name: string, mistakes: readonly Mistake[]): string {
  const blocks = mistakes.map(({ arm, benchmark, split, task_id, instruction, expected, answer, n_wrong, n_answers }) =>
    [
      `## ${benchmark} (${split}): ${task_id}`,
      '',
      `${arm}: ${n_wrong} of ${n_answers} answers wrong.`,
      '',
      ...[
        ['Instruction', instruction],
        ['Expected', expected ?? '(no answer to compare with)'],
        ['Answer', answer ?? '(none)'],
      ].flatMap(([title, text = '']) => [`${title}:`, '', ...text.split('\n').map((line) => `    ${line}`), '']),
    ].join('\n'),
  )
  return [`# Wrong answers of ${name}`, '', ...blocks].join('\n')
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
      return found === undefined
        ? ''
        : `${number(found.mean)}${found.ci === null ? '' : ` (${range(found.ci)}${rough(found.too_few)})`}`
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

function range(interval: readonly [number, number] | null | undefined): string {
  return interval == null ? '' : `${number(interval[0])} to ${number(interval[1])}`
}

function rough(tooFew: Score['too_few']): string {
  return tooFew === undefined ? '' : `, not calibrated: ${roughText(tooFew)}`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
