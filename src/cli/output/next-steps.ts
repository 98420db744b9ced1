// What to do after an experiment, by what came of it.
import type { Evidence, ExperimentResult } from '../../contracts/index.ts'
import type { Colors } from './colors.ts'

export interface NextOptions {
  readonly evidence: Evidence | undefined
  /** The command that runs it, with values set besides those that were set before. */
  commandWith(...sets: readonly string[]): string
  /** It was a trial. */
  readonly dry: boolean
}

/** Commands, with a remark, that would find out more. */
export function nextSteps(
  { conclusion, arms }: Pick<ExperimentResult, 'conclusion' | 'arms'>,
  options: NextOptions,
): string[] {
  const { commandWith, dry } = options
  if (dry) return [`${commandWith()}   # the plan as a whole`]
  switch (conclusion?.verdict) {
    case 'supported':
    case 'refuted':
      return [`${commandWith(`base_seed=${freshSeed(arms)}`)} --fresh   # confirm on fresh seeds`]
    case 'inconclusive':
      return [decidingStep(arms, options)]
    case 'exploratory':
      return ['declare metadata.claim to have a hypothesis tested']
    default:
      if (arms.every(({ status }) => status === 'stopped')) return ['raise the budget, or plan fewer runs or steps']
      return [`${commandWith()} --dry   # a few steps, to see what fails`]
  }
}

/** Steps under their title. */
export function nextText(steps: readonly string[], colors: Colors): string {
  return [colors.bold('Next:'), ...steps.map((step) => `  ${step}`)].join('\n')
}

function decidingStep(arms: ExperimentResult['arms'], { commandWith, evidence }: NextOptions): string {
  const seeds = Math.max(1, ...arms.map((arm) => arm.seeds.length))
  const open = evidence?.claims?.find((each) => each?.overall.verdict === 'inconclusive')
  const overall = (open ?? evidence?.claim)?.overall
  const more = overall?.seeds_still_needed ?? (overall?.reason === 'one_seed' ? 3 : null)
  if (more === null) return 'add tasks to the benchmark: more seeds of the same would not decide it'
  return `${commandWith(`n_repeats=${seeds + more}`)}   # more seeds`
}

function freshSeed(arms: ExperimentResult['arms']): number {
  return Math.max(0, ...arms.flatMap(({ seeds }) => seeds)) + 1
}
