// `evsys compare ID ID...`: experiments side by side, the first one as baseline.
import { EvsysError } from '../../kernel/index.ts'
import type { Comparison } from '../../record/index.ts'
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
    const experiments = []
    for (const reference of references) experiments.push(await store.findExperiment(reference))
    const ids = experiments.map(({ id }) => id)
    if (new Set(ids).size < ids.length) {
      throw new EvsysError('CLI_USAGE', `"${references.join('", "')}" name one experiment twice`, {
        fix: 'a name means the newest of that name; use ids: `evsys history` lists them.',
      })
    }
    const { compareExperiments } = await import('../../record/index.ts')
    const comparison = await compareExperiments(store, experiments)
    output.result(comparison, () => comparisonText(comparison, output))
    return exitCodes.done
  })
}

// Experiments side by side, as people read them.
type Style = Pick<Output, 'colors' | 'width'>

const shownArms = 12
const shownDifferences = 20

function comparisonText(comparison: Comparison, style: Style): string {
  const { experiments, groups } = comparison
  const names = shortNames(experiments)
  const rows = experiments.map(({ experiment_id, verdict, objective, best_arm }) => [
    names.get(experiment_id) ?? '',
    experiment_id,
    verdict ?? 'none yet',
    objective?.metric ?? '',
    best_arm ?? '',
  ])
  const head = ['NAME', 'ID', 'VERDICT', 'OBJECTIVE', 'BEST ARM']
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
      const isAlone = experiments.filter((each) => each.name === name).length === 1
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
  { effects: found, groups }: Comparison,
  names: ReadonlyMap<string, string>,
  { colors }: Style,
): string[] {
  if (found.length === 0) return []
  const lines = found.map(({ benchmark, metric, treatment, baseline, effect, interval, confidence, shared_seeds }) => {
    const range =
      interval === null
        ? 'no interval: one seed says nothing about chance'
        : `${numberText(confidence * 100)} % interval ${rangeText(interval)}`
    const basis = shared_seeds === 0 ? 'no shared seeds' : countText(shared_seeds, 'shared seed')
    return `  ${benchmark}.${metric}: ${names.get(treatment.experiment_id)} (${treatment.arm}) against ${names.get(baseline.experiment_id)} (${baseline.arm}) is ${signedText(effect)} (${range}; ${basis})`
  })
  const isChosen = groups.some(({ arms }) => arms.length > 2)
  const caution = isChosen
    ? ['  The arms are the best of their experiments, chosen by these scores: no claim was tested.']
    : []
  return [[colors.bold('Best arm against the first experiment’s; positive is better'), ...lines, ...caution].join('\n')]
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
  const head = ['SETTING', ...experiments.map(({ experiment_id }) => names.get(experiment_id) ?? '')]
  const rest = found.length - shownDifferences
  const text = table(rows, { head, width, indent: 2, paintHead: colors.bold })
  return [`${colors.bold('What differs')}\n${text}${rest > 0 ? `\n  ... and ${countText(rest, 'more setting')}` : ''}`]
}
