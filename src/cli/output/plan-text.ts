// A plan as people read it before anything starts: why, how it is scored, which arms with which seeds.
import type { Plan, PlannedArm, PlanPower, TaskFile } from '../../contracts/index.ts'
import type { PlanForecast } from '../../record/index.ts'
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
  const { pairs, benchmark, baseline_benchmark: other, metric, min_effect } = claim
  const [first] = pairs
  const more = pairs.length > 1 ? ` (and ${pairs.length - 1} more pairs)` : ''
  const verb = min_effect < 0 ? 'loses less than' : 'beats'
  const effect = min_effect > 0 ? ` by more than ${min_effect}` : ''
  const lost = min_effect < 0 ? `${-min_effect} against ` : ''
  const [treatment, baseline, measure] =
    other === undefined
      ? [first?.treatment, first?.baseline, `${benchmark}.${metric}`]
      : [`${first?.treatment}@${benchmark}`, `${first?.baseline}@${other}`, metric]
  return ['claim', `${treatment} ${verb} ${lost}${baseline}${more} on ${measure}${effect}`]
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

/** What the runs take that are left; with `whole`, also what the whole plan can find out, and what more of it would take. */
export function forecastText(
  forecast: PlanForecast,
  style: Style,
  whole?: { readonly power: readonly PlanPower[]; readonly forecast: PlanForecast },
): string {
  const facts = whole === undefined ? [] : powerFacts(whole.power, whole.forecast)
  return labelledLines([...facts, ...costFacts(forecast)], style)
}

function powerFacts(powers: readonly PlanPower[], forecast: PlanForecast): Fact[] {
  if (powers.length === 0) return [['power', 'none: no objective and no claim, so nothing is compared']]
  return powers.flatMap((power): Fact[] => {
    const { benchmark, baseline_benchmark: other, metric } = power
    const what = other === undefined ? `${benchmark}.${metric}` : `${metric} between ${other} and ${benchmark}`
    if (power.variances === null) {
      return [
        ['noise', `unknown: ${unmeasured(power, what)}`],
        ['power', `unknown; ${oneSeedText(power.pairs)}`],
      ]
    }
    return [
      ['noise', noiseText(power, what)],
      ['power', detectsText(power)],
      ...limitFacts(power),
      ...neededFacts(power, forecast),
    ]
  })
}

function unmeasured({ baseline_benchmark: other, metric }: PlanPower, what: string): string {
  return other === undefined
    ? `no earlier experiment was judged by ${what}`
    : `no earlier experiment has scores of ${metric} on both benchmarks, by task`
}

function noiseText(power: PlanPower, what: string): string {
  const { variances, basis, tasks, baseline_benchmark: other } = power
  const { seed = 0, task = 0, residual = 0 } = variances ?? {}
  const spread = (variance: number) => numberText(Math.sqrt(variance))
  const parts =
    tasks === null
      ? `${spread(seed)} between seeds, and tasks are not known`
      : `${spread(seed)} between seeds, ${spread(task)} between tasks, ${spread(residual)} in single answers`
  const source =
    basis?.from === 'record'
      ? `measured in ${countText(basis.experiments, 'earlier experiment')}`
      : `assumed for right-or-wrong tasks${(basis?.samples ?? 1) > 1 ? ` with ${basis?.samples} answers each` : ''}, half of whose chance is the task's; training adds its own, and ${unmeasured(power, what)}`
  return `a ${other === undefined ? 'paired ' : ''}difference on ${what} has standard deviations of ${parts}: ${source}`
}

function detectsText(power: PlanPower): string {
  const { pairs, tasks, detects, largest, metric, confidence, min_effect, baseline_benchmark: other } = power
  if (detects === null) return oneSeedText(pairs)
  const on = other === undefined ? '' : ' of each benchmark, or as uncertain a mean of both'
  const plan = `${countText(pairs, other === undefined ? 'pair' : 'seed')}${other === undefined ? ' of runs' : ''}${tasks === null ? '' : ` on ${countText(tasks, 'task')}${on}`}`
  if (detects > (largest ?? Number.POSITIVE_INFINITY)) {
    return `${plan} show no effect that ${metric} can have: it would have to be ${numberText(detects)}`
  }
  const over = tasks === null ? 'seeds' : 'seeds and tasks'
  const claimed =
    min_effect > 0
      ? `, more than ${numberText(min_effect)} is claimed`
      : min_effect < 0
        ? `, a drop of less than ${numberText(-min_effect)} is claimed`
        : ''
  const effect =
    detects < 0
      ? `that a true drop of ${numberText(-detects)} or less is none that counts`
      : `an effect of ${numberText(detects)} or more`
  return `${plan} show ${effect} in four of five cases (${numberText(confidence * 100)} % interval over ${over}${claimed})`
}

function limitFacts({ detects_with_any_seeds: least, tasks }: PlanPower): Fact[] {
  if (least === null || tasks === null) return []
  if (least < 0) return []
  return [['limit', `with any number of seeds ${countText(tasks, 'task')} show no effect below ${numberText(least)}`]]
}

function oneSeedText(pairs: number): string {
  return pairs <= 1
    ? 'one seed says nothing about chance: set n_repeats to 3 or more'
    : countText(pairs, 'pair of runs')
}

function neededFacts(
  { needed, pairs, tasks, detects_with_any_seeds: least }: PlanPower,
  forecast: PlanForecast,
): Fact[] {
  if (needed === null) return []
  const effect =
    needed.effect === 0 ? 'no drop at all' : `an effect of ${numberText(needed.effect)}, twice what is claimed,`
  const withTasks =
    needed.tasks === null || needed.tasks <= (tasks ?? 0)
      ? undefined
      : `${countText(needed.tasks, 'task')} with ${countText(pairs, 'pair')} of runs`
  if (needed.pairs !== null) {
    const other = withTasks === undefined ? '' : `, or ${withTasks}`
    return [['needs', `${effect} takes ${pairsText(needed.pairs, pairs, forecast)}${other}`]]
  }
  const isTaskBound = least !== null && least > needed.effect
  const why = isTaskBound
    ? `is beyond ${countText(tasks ?? 0, 'task')}: more seeds cannot help`
    : 'would take more than 1,000 pairs'
  const fix =
    withTasks === undefined
      ? tasks === null
        ? 'claim more'
        : 'add both tasks and seeds, or claim more'
      : `it takes ${withTasks}`
  return [['needs', `${effect} ${why}; ${fix}`]]
}

function pairsText(needed: number, pairs: number, { runs, wallS }: PlanForecast): string {
  const text = `${countText(needed, 'pair')} of runs`
  if (pairs === 0) return text
  const times = needed / pairs
  const time = wallS === null ? '' : `, about ${durationText(wallS * times)}`
  return `${text} (${countText(Math.ceil(runs * times), 'run')}${time})`
}

function costFacts(forecast: PlanForecast): Fact[] {
  const { runs, steps, evals, tokens, wallS, costUsd, maxConcurrent, measuredOn } = forecast
  if (runs === 0) return [['work', 'none: every run is in the record']]
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
