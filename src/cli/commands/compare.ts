// `evsys compare ID ID...`: experiments, or arms of them, side by side; the first one is the baseline.
import { EvsysError, suggest } from '../../kernel/index.ts'
import type { BenchmarkComparison, BenchmarkSide, ComparedSide, Comparison } from '../../record/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'
import { countText, numberText, rangeText, shorten, signedText } from '../output/text.ts'

const mostCompared = 20

export async function compare(context: CommandContext, references: readonly string[]): Promise<ExitCode> {
  const { output } = context
  if (references.length < 2 || references.length > mostCompared) {
    throw new EvsysError('CLI_USAGE', `compare takes 2 to ${mostCompared} experiments, not ${references.length}`, {
      fix: 'name them: `evsys compare BASELINE OTHER`. `evsys history` lists what there is.',
    })
  }
  return await withRecord(context, {}, async ({ store, project }) => {
    const on = references.filter((each) => benchmarkIn(each) !== undefined)
    if (on.length > 0) return await compareOn(store, references, project, output)
    const sides: ComparedSide[] = []
    for (const reference of references) sides.push(await sideOf(store, reference))
    const named = sides.map(({ experiment, arm }) => JSON.stringify([experiment.id, arm]))
    const isMixed = sides.some(({ experiment, arm }) => arm === undefined && idsOf(sides, experiment.id) > 1)
    if (new Set(named).size < named.length || isMixed) {
      const what = sides.some(({ arm }) => arm !== undefined) ? 'one experiment or arm' : 'one experiment'
      throw new EvsysError('CLI_USAGE', `"${references.join('", "')}" name ${what} twice`, {
        fix: 'a name means the newest of that name; use ids: `evsys history` lists them. Arms are EXPERIMENT/ARM.',
      })
    }
    const { compareExperiments } = await import('../../record/index.ts')
    const comparison = await compareExperiments(store, sides)
    output.result(comparison, () => comparisonText(comparison, output))
    return exitCodes.done
  })
}

/** `EXPERIMENT` or `EXPERIMENT/ARM`. */
async function sideOf(store: OpenStore, reference: string): Promise<ComparedSide> {
  const [name = '', ...rest] = reference.split('/')
  const experiment = await store.findExperiment(name)
  if (rest.length === 0) return { experiment }
  const arm = rest.join('/')
  const known = [...new Set((await store.runs(experiment.id)).map((run) => run.arm))]
  if (known.includes(arm)) return { experiment, arm }
  throw new EvsysError('CLI_USAGE', `experiment "${experiment.name}" has no arm "${arm}"`, { fix: suggest(arm, known) })
}

function benchmarkIn(reference: string): string | undefined {
  const at = reference.lastIndexOf('@')
  return at < 0 ? undefined : reference.slice(at + 1)
}

/** `EXPERIMENT/ARM@BENCHMARK` or `EXPERIMENT@BENCHMARK`, all of them. */
async function compareOn(
  store: OpenStore,
  references: readonly string[],
  project: string,
  output: Output,
): Promise<ExitCode> {
  const without = references.find((each) => benchmarkIn(each) === undefined)
  if (without !== undefined) {
    throw new EvsysError('CLI_USAGE', `"${without}" names no benchmark, and others do`, {
      fix: `name one on each side: \`evsys compare RUN/ARM@val RUN/ARM@april\`.`,
    })
  }
  const sides: BenchmarkSide[] = []
  for (const reference of references) {
    const benchmark = benchmarkIn(reference) ?? ''
    sides.push({ ...(await sideOf(store, reference.slice(0, -benchmark.length - 1))), benchmark })
  }
  const named = sides.map(({ experiment, arm, benchmark }) => JSON.stringify([experiment.id, arm, benchmark]))
  if (new Set(named).size < named.length) {
    throw new EvsysError('CLI_USAGE', `"${references.join('", "')}" name one arm on one benchmark twice`, {
      fix: 'name two benchmarks, or two arms.',
    })
  }
  const { compareBenchmarks } = await import('../../record/index.ts')
  const comparison = await compareBenchmarks(store, sides, project)
  output.result(comparison, () => benchmarksText(comparison, output))
  return exitCodes.done
}

function idsOf(sides: readonly ComparedSide[], id: string): number {
  return sides.filter(({ experiment }) => experiment.id === id).length
}

// Experiments side by side, as people read them.
type Style = Pick<Output, 'colors' | 'width'>

const shownArms = 12
const shownDifferences = 20

function comparisonText(comparison: Comparison, style: Style): string {
  const { experiments, groups } = comparison
  const names = shortNames(experiments)
  const rows = experiments.map(({ experiment_id, verdict, objective, best_arm, arm }) => [
    names.get(experiment_id) ?? '',
    experiment_id,
    verdict ?? 'none yet',
    objective?.metric ?? '',
    arm ?? best_arm ?? '',
  ])
  const hasNamed = experiments.some(({ arm }) => arm !== undefined)
  const head = ['NAME', 'ID', 'VERDICT', 'OBJECTIVE', hasNamed ? 'ARM' : 'BEST ARM']
  return [
    table(rows, { head, width: style.width, paintHead: style.colors.bold }),
    ...groups.map((group) => groupText(group, names, style)),
    ...(groups.length === 0 ? ['no scores to compare'] : []),
    ...refusals(comparison, names, style),
    ...effects(comparison, names, style),
    ...differences(comparison, names, style),
  ].join('\n\n')
}

// Two experiments of one name differ by the end of their ids.
function shortNames(experiments: Comparison['experiments']): Map<string, string> {
  return new Map(
    experiments.map(({ experiment_id, name }) => {
      const isAlone = experiments.every((each) => each.name !== name || each.experiment_id === experiment_id)
      return [experiment_id, isAlone ? name : `${name} …${experiment_id.slice(-6)}`]
    }),
  )
}

function groupText(
  { benchmark, metric, direction, scorer_hash, arms }: Comparison['groups'][number],
  names: ReadonlyMap<string, string>,
  { colors, width }: Style,
): string {
  const title = `${benchmark}.${metric}, ${direction === 'max' ? 'higher' : 'lower'} is better, scorer ${scorer_hash.slice(0, 12)}`
  const rows = arms
    .slice(0, shownArms)
    .map(({ experiment_id, arm, score }) => [
      names.get(experiment_id) ?? '',
      arm,
      numberText(score.mean),
      score.ci === null ? '' : rangeText(score.ci),
      String(score.n),
    ])
  const head = ['EXPERIMENT', 'ARM', 'SCORE', '90 % INTERVAL', 'N']
  const text = table(rows, { head, width, indent: 2, paintHead: colors.bold })
  const rest = arms.length - shownArms
  return `${colors.bold(title)}\n${text}${rest > 0 ? `\n  ... and ${countText(rest, 'more arm')}` : ''}`
}

function refusals({ refused }: Comparison, names: ReadonlyMap<string, string>, { colors }: Style): string[] {
  return refused.map(({ benchmark, scorers }) => {
    const who = scorers.map((each) => `${names.get(each.experiment_id)}: ${each.scorer_hash.slice(0, 12)}`)
    return `${colors.yellow('not comparable:')} ${benchmark} was scored by different scorers (${who.join(', ')}). Its tasks, verifiers, metrics or their code changed in between.`
  })
}

function effects(
  { effects: found, groups, experiments }: Comparison,
  names: ReadonlyMap<string, string>,
  { colors }: Style,
): string[] {
  if (found.length === 0) return []
  const lines = found.map((each) => {
    const { benchmark, metric, treatment, baseline, effect, interval, over, confidence, shared_seeds } = each
    const covers =
      over === 'tasks' ? ', the chance of tasks and not of the seed' : over === 'both' ? ' on tasks like these' : ''
    const range =
      interval === null
        ? 'no interval: one seed says nothing about chance'
        : `${numberText(confidence * 100)} % interval ${rangeText(interval)}${covers}`
    const basis = shared_seeds === 0 ? 'no shared seeds' : countText(shared_seeds, 'shared seed')
    return `  ${benchmark}.${metric}: ${names.get(treatment.experiment_id)} (${treatment.arm}) against ${names.get(baseline.experiment_id)} (${baseline.arm}) is ${effect === 0 ? 'a tie' : signedText(effect)} (${range}; ${basis})`
  })
  const hasNamed = experiments.some(({ arm }) => arm !== undefined)
  const isChosen = groups.some(({ arms }) => arms.length > 2) && experiments.some(({ arm }) => arm === undefined)
  const caution = isChosen
    ? ['  The arms are the best of their experiments, chosen by these scores: no claim was tested.']
    : []
  const title = `${hasNamed ? 'Each against the first' : 'Best arm against the first experiment’s'}; positive is better`
  return [[colors.bold(title), ...lines, ...caution].join('\n')]
}

function differences(
  { differences: found, experiments }: Comparison,
  names: ReadonlyMap<string, string>,
  { colors, width }: Style,
): string[] {
  if (found.length === 0) return []
  const rows = found
    .slice(0, shownDifferences)
    .map(({ path, values }) => [
      path,
      ...values.map((value) => (value === undefined ? '' : shorten(JSON.stringify(value), 60))),
    ])
  const head = [
    'SETTING',
    ...experiments.map(
      ({ experiment_id, arm }) => `${names.get(experiment_id) ?? ''}${arm === undefined ? '' : `/${arm}`}`,
    ),
  ]
  const rest = found.length - shownDifferences
  const text = table(rows, { head, width, indent: 2, paintHead: colors.bold })
  return [`${colors.bold('What differs')}\n${text}${rest > 0 ? `\n  ... and ${countText(rest, 'more setting')}` : ''}`]
}

// Arms on benchmarks, as people read them.
const shownLabels = 20

function benchmarksText({ sides, differences: found }: BenchmarkComparison, style: Style): string {
  const rows = sides.map(({ name, experiment_id, arm, benchmark }) => [name, experiment_id, arm, benchmark])
  const head = ['NAME', 'ID', 'ARM', 'BENCHMARK']
  return [
    table(rows, { head, width: style.width, paintHead: style.colors.bold }),
    ...(found.length === 0 ? ['no metric has scores on both sides'] : []),
    ...found.map((each) => benchmarkDifferenceText(each, style)),
  ].join('\n\n')
}

function benchmarkDifferenceText(
  difference: BenchmarkComparison['differences'][number],
  { colors, width }: Style,
): string {
  const { metric, baseline, treatment, over, confidence, shared_seeds, mix, unmixed } = difference
  const coverage = `${numberText(confidence * 100)} % interval`
  const rangeOf = ({ interval }: { interval: readonly [number, number] | null }) =>
    interval === null ? 'no interval' : `${coverage} ${rangeText([...interval])}`
  const covers = {
    both: ' on tasks like these',
    tasks: ', the chance of tasks and not of the seed',
    seeds: ' over seeds',
  }
  const seeds = shared_seeds === 0 ? 'no shared seeds' : countText(shared_seeds, 'shared seed')
  const score = ({ benchmark, score, n_tasks }: typeof baseline) =>
    `${benchmark} ${numberText(score.mean)} (${countText(n_tasks, 'task')})`
  const lines = [
    colors.bold(`${metric}: ${score(baseline)}, ${score(treatment)}; positive is better`),
    `  difference ${signedText(difference.effect)} (${rangeOf(difference)}${over === null ? '' : covers[over]}; ${seeds})`,
  ]
  if (mix === null) return [...lines, `  how much of it is the mix of classes is not known: ${unmixed}`].join('\n')
  const labels = mix.labels
    .slice(0, shownLabels)
    .map(({ label, shares, scores }) => [
      shorten(label, 40),
      ...shares.map((share) => `${numberText(100 * share)} %`),
      ...scores.map((each) => (each === null ? '' : numberText(each))),
    ])
  const two = [baseline.benchmark, treatment.benchmark]
  const head = ['LABEL', ...two.map((each) => `SHARE ${each}`), ...two.map((each) => `SCORE ${each}`)]
  const rest = mix.labels.length - shownLabels
  return [
    ...lines,
    `  mix of classes ${signedText(mix.of_mix.effect)} (${rangeOf(mix.of_mix)}): scores by label of ${baseline.benchmark} at the shares of ${treatment.benchmark}`,
    `  within classes ${signedText(mix.within.effect)} (${rangeOf(mix.within)})`,
    table(labels, { head, width, indent: 2, paintHead: colors.bold }),
    ...(rest > 0 ? [`  ... and ${countText(rest, 'more label')}`] : []),
  ].join('\n')
}
