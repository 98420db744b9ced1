// A plan as people read it before anything starts: why, how it is judged, which arms with which seeds.
import type { Plan, PlannedArm } from '../../contracts/index.ts'
import { visibleText } from '../../kernel/index.ts'
import type { Output } from './output.ts'
import { table, wrap } from './table.ts'

/** A plan of hundreds of arms is counted, not read. */
const shownArms = 20
const shownSeeds = 6

export function planText(plan: Plan, { colors, width }: Pick<Output, 'colors' | 'width'>): string {
  return [facts(plan, { colors, width }), armTable(plan.arms, { colors, width })].join('\n\n')
}

function facts(plan: Plan, { colors, width }: Pick<Output, 'colors' | 'width'>): string {
  const { hypothesis } = plan.experiment.metadata
  const rows: [string, string][] = [
    ['name', plan.experiment.name],
    ['hypothesis', hypothesis ?? 'none: the verdict will be exploratory at best'],
    ['objective', objectiveText(plan)],
    ...claimRows(plan),
    ['plan', countText(plan)],
  ]
  const labelWidth = Math.max(...rows.map(([label]) => label.length)) + 2
  return rows
    .map(([label, text]) => {
      const lines = wrap(visibleText(text.replace(/\s+/g, ' ').trim()), width - labelWidth)
      return `${colors.bold(label.padEnd(labelWidth))}${lines.join(`\n${' '.repeat(labelWidth)}`)}`
    })
    .join('\n')
}

function objectiveText({ objective }: Plan): string {
  if (objective === undefined) return 'none: arms are not ranked'
  const { benchmark, metric, direction } = objective
  return `${benchmark}.${metric}, ${direction === 'max' ? 'higher' : 'lower'} is better`
}

function claimRows({ claim }: Plan): [string, string][] {
  if (claim === undefined) return []
  const { pairs, benchmark, metric, min_effect } = claim
  const [first] = pairs
  const more = pairs.length > 1 ? ` (and ${pairs.length - 1} more pairs)` : ''
  const effect = min_effect > 0 ? ` by more than ${min_effect}` : ''
  return [['claim', `${first?.treatment} beats ${first?.baseline}${more} on ${benchmark}.${metric}${effect}`]]
}

function countText({ arms, runs }: Plan): string {
  const seeds = new Set(arms.map((arm) => arm.seeds.length))
  const [each = 0] = seeds
  const product = seeds.size === 1 && arms.length * each === runs.length
  return product
    ? `${count(arms.length, 'arm')} x ${count(each, 'seed')} = ${count(runs.length, 'run')}`
    : `${count(arms.length, 'arm')}, ${count(runs.length, 'run')}`
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

function armTable(arms: readonly PlannedArm[], { colors, width }: Pick<Output, 'colors' | 'width'>): string {
  const paths = [...new Set(arms.flatMap(({ params }) => Object.keys(params)))]
  const rows = arms
    .slice(0, shownArms)
    .map(({ name, seeds, max_steps, params }) => [
      name,
      seedText(seeds),
      max_steps === undefined ? '' : String(max_steps),
      ...paths.map((path) => (Object.hasOwn(params, path) ? valueText(params[path]) : '')),
    ])
  const head = ['ARM', 'SEEDS', 'STEPS', ...shortNames(paths)]
  const rest = arms.length - shownArms
  const text = table(rows, { head, width, paintHead: colors.bold })
  return rest > 0 ? `${text}\n... and ${count(rest, 'more arm')}` : text
}

function seedText(seeds: readonly number[]): string {
  const shown = seeds.slice(0, shownSeeds).join(', ')
  return seeds.length > shownSeeds ? `${shown}, ... (${seeds.length})` : shown
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

// `learning_rate` says enough, unless another path ends like it.
function shortNames(paths: readonly string[]): string[] {
  const last = paths.map((path) => path.split('.').at(-1) ?? path)
  return paths.map((path, i) => (last.filter((each) => each === last[i]).length > 1 ? path : (last[i] ?? path)))
}
