// The end of an experiment, as people read it: what came out, on which arms, where the files are, what to do next.
import type { Evidence, ExperimentResult } from '../../contracts/index.ts'
import { armTable, verdictPaint } from './experiment-text.ts'
import { type Fact, labelledLines } from './labelled-lines.ts'
import type { Output } from './output.ts'
import { durationText } from './quantity-text.ts'

export interface ResultTextOptions extends Pick<Output, 'colors' | 'width' | 'quiet'> {
  readonly evidence: Evidence | undefined
  /** The command that runs it, with values set besides those that were set before. */
  commandWith(...sets: readonly string[]): string
  /** Page to open first, as the user would type it. */
  readonly page: string
  /** It was a trial. */
  readonly dry: boolean
}

export function resultText(result: ExperimentResult, options: ResultTextOptions): string {
  const { colors, quiet } = options
  const { name, experiment_id, conclusion, wall_s } = result
  const verdict = conclusion?.verdict ?? 'failed'
  const first = `${verdictPaint(verdict, colors)(verdict)}: ${name} (${experiment_id}) in ${durationText(wall_s)}`
  if (quiet) return first
  const facts: Fact[] = [
    ['conclusion', conclusion?.text ?? ''],
    ['files', options.page],
  ]
  const next = nextSteps(result, options)
  return [
    first,
    labelledLines(facts, options),
    armTable(result, options),
    [colors.bold('Next:'), ...next.map((line) => `  ${line}`)].join('\n'),
  ].join('\n\n')
}

function nextSteps({ conclusion, experiment_id, arms }: ExperimentResult, options: ResultTextOptions): string[] {
  const { commandWith, dry } = options
  const show = `evsys show ${experiment_id}`
  if (dry) return [`${commandWith()}   # the plan as a whole`]
  switch (conclusion?.verdict) {
    case 'supported':
    case 'refuted':
      return [show, `${commandWith(`base_seed=${freshSeed(arms)}`)}   # confirm on fresh seeds`]
    case 'inconclusive':
      return [show, decidingStep(arms, options)]
    case 'exploratory':
      return [show, 'declare metadata.claim to have a hypothesis tested']
    default:
      return [show, `${commandWith()} --dry   # a few steps, to see what fails`]
  }
}

function decidingStep(arms: ExperimentResult['arms'], { commandWith, evidence }: ResultTextOptions): string {
  const seeds = Math.max(1, ...arms.map((arm) => arm.seeds.length))
  const overall = evidence?.claim?.overall
  const more = overall?.seeds_still_needed ?? (overall?.reason === 'one_seed' ? 3 : null)
  if (more === null) return 'add tasks to the benchmark: more seeds of the same would not decide it'
  return `${commandWith(`n_repeats=${seeds + more}`)}   # more seeds`
}

function freshSeed(arms: ExperimentResult['arms']): number {
  return Math.max(0, ...arms.flatMap(({ seeds }) => seeds)) + 1
}
