// `evsys compare ID ID...`: experiments, or arms of them, side by side; the first one is the baseline.
import { EvsysError, suggest } from '../../kernel/index.ts'
import type { ComparedSide, Comparison } from '../../record/index.ts'
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
  return await withRecord(context, {}, async ({ store }) => {
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
