// A plan as people read it before anything starts: why, how it is scored, which arms with which seeds.
import type { Plan, PlannedArm, TaskFile } from '../../contracts/index.ts'
import type { PlanForecast, PlanPower } from '../../record/index.ts'
import type { Output } from './output.ts'
import { type Fact, labelledLines, table } from './table.ts'
import { countText, durationText, numberText, usdText } from './text.ts'

/** A plan of hundreds of arms is counted, not read. */
const shownArms = 20
const listedSeeds = 4

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
    ['plan', runCountText(plan)],
  ]
  const facts = rows.map(([label, text]): Fact => [label, text.replace(/\s+/g, ' ')])
  return labelledLines(facts, { colors, width })
}

function objectiveText({ objective }: Plan): string {
  if (objective === undefined) return 'none: arms are not ranked'
  const { benchmark, metric, direction } = objective
  return `${benchmark}.${metric}, ${direction === 'max' ? 'higher' : 'lower'} is better`
}

function claimRows({ claim, claims }: Plan): [string, string][] {
  return (claims ?? (claim === undefined ? [] : [claim])).map(claimRow)
}

function claimRow(claim: NonNullable<Plan['claim']>): [string, string] {
  const { pairs, benchmark, metric, min_effect } = claim
  const [first] = pairs
  const more = pairs.length > 1 ? ` (and ${pairs.length - 1} more pairs)` : ''
  const effect = min_effect > 0 ? ` by more than ${min_effect}` : ''
  return ['claim', `${first?.treatment} beats ${first?.baseline}${more} on ${benchmark}.${metric}${effect}`]
}

function runCountText({ arms, runs }: Plan): string {
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
  const [first = 0] = seeds
  if (seeds.length <= listedSeeds) return seeds.join(', ')
  if (seeds.every((seed, i) => seed === first + i)) return `${first}-${seeds.at(-1)}`
  return `${seeds.slice(0, listedSeeds).join(', ')}, ... (${seeds.length})`
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

// `learning_rate` says enough, unless another path ends like it.
function shortNames(paths: readonly string[]): string[] {
  const last = paths.map((path) => path.split('.').at(-1) ?? path)
  return paths.map((path, i) => (last.filter((each) => each === last[i]).length > 1 ? path : (last[i] ?? path)))
}

// What a plan can find out and what it will take, as people read it before they spend anything.
type Style = Pick<Output, 'colors' | 'width'>

/** Power and cost; without `power`, what the plan takes. */
export function forecastText(
  forecast: PlanForecast,
  style: Style,
  power?: { readonly of: PlanPower | undefined },
): string {
  return labelledLines([...(power === undefined ? [] : powerFacts(power.of, forecast)), ...costFacts(forecast)], style)
}

function powerFacts(power: PlanPower | undefined, forecast: PlanForecast): Fact[] {
  if (power === undefined) return [['power', 'none: no objective and no claim, so nothing is compared']]
  const { pairs, detects, noise, benchmark, metric, minEffect, confidence } = power
  const what = `${benchmark}.${metric}`
  if (noise === undefined) {
    return [
      ['noise', `unknown: no earlier experiment was judged by ${what}`],
      ['power', `unknown; ${oneSeedText(pairs)}`],
    ]
  }
  const { sd, basis } = noise
  const source =
    basis.from === 'history'
      ? `measured in ${countText(basis.experiments, 'earlier experiment')} (${countText(basis.df, 'degree')} of freedom)`
      : `assumed from the chance in ${countText(basis.tasks, 'right-or-wrong task')}${basis.samples > 1 ? ` with ${basis.samples} answers each` : ''}; training adds its own, and no earlier experiment was judged by ${what}`
  const seen =
    detects === null
      ? oneSeedText(pairs)
      : detects > (power.largest ?? Number.POSITIVE_INFINITY)
        ? `${countText(pairs, 'pair')} of runs show no effect that ${metric} can have: it would have to be ${numberText(detects)}`
        : `${countText(pairs, 'pair')} of runs show an effect of ${numberText(detects)} or more in four of five cases (${numberText(confidence * 100)} % interval${minEffect > 0 ? `, more than ${numberText(minEffect)} is claimed` : ''})`
  return [
    ['noise', `a paired difference on ${what} moves by ${numberText(sd)} (standard deviation), ${source}`],
    ['power', seen],
    ...neededFacts(power, forecast),
  ]
}

function oneSeedText(pairs: number): string {
  return pairs <= 1
    ? 'one seed says nothing about chance: set n_repeats to 3 or more'
    : countText(pairs, 'pair of runs')
}

function neededFacts({ needed, pairs }: PlanPower, { runs, wallS }: PlanForecast): Fact[] {
  if (needed === null) return []
  const effect = `an effect of ${numberText(needed.effect)}, twice what is claimed,`
  if (needed.pairs === null) return [['needs', `${effect} would take more than 1,000 pairs: add tasks or claim more`]]
  const times = pairs === 0 ? undefined : needed.pairs / pairs
  const cost =
    times === undefined
      ? ''
      : ` (${countText(Math.ceil(runs * times), 'run')}${wallS === null ? '' : `, about ${durationText(wallS * times)}`})`
  return [['needs', `${effect} takes ${countText(needed.pairs, 'pair')} of runs${cost}`]]
}

function costFacts(forecast: PlanForecast): Fact[] {
  const { runs, steps, evals, tokens, wallS, costUsd, maxConcurrent, measuredOn } = forecast
  const basis =
    measuredOn === 0 ? 'no earlier run of this recipe' : `measured on ${countText(measuredOn, 'earlier run')}`
  const amount = [
    countText(runs, 'run'),
    steps === null ? 'as many steps as the data needs' : countText(steps, 'step'),
    ...(evals === null ? [] : [countText(evals, 'evaluation')]),
    ...(tokens === null ? [] : [`about ${countText(tokens, 'token')}`]),
  ]
  const time =
    wallS === null ? `unknown: ${basis}` : `about ${durationText(wallS)}, ${maxConcurrent} at a time; ${basis}`
  return [
    ['work', amount.join(', ')],
    ['time', time],
    ['cost', costUsd === null ? 'unknown: the backend reports none' : `about ${usdText(costUsd)}`],
  ]
}

// A task as people read it before it is queued.
export function taskText(task: TaskFile, { width }: Pick<Output, 'width'>): string {
  const { sweeps, parameters } = task
  const axes = Object.entries(sweeps?.sweep_config ?? {})
  const jobs = axes.reduce((product, [, values]) => product * values.length, 1)
  const rows: string[][] = [
    ['name', task.name],
    ['run', task.run.trim().replace(/\s*\n\s*/g, '; ')],
    ...(Object.keys(parameters).length === 0 ? [] : [['parameters', JSON.stringify(parameters)]]),
    ...axes.map(([name, values]) => [`sweep ${name}`, values.map((value) => JSON.stringify(value)).join(', ')]),
    ...(sweeps === undefined
      ? []
      : [['jobs', `${jobs}, judged by ${sweeps.sweep_metric} (${sweeps.lower_is_better ? 'min' : 'max'})`]]),
    ...(task.metric === undefined ? [] : [['metric', `${task.metric} (${task.direction ?? 'no direction given'})`]]),
  ]
  return table(rows, { width })
}
