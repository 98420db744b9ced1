// The end of an experiment, as people read it: what came out, on which arms, where the files are, what to do next.
import type { ExperimentResult } from '../../contracts/index.ts'
import { armTable, verdictPaint } from './experiment-text.ts'
import { type Fact, labelledLines } from './labelled-lines.ts'
import { type NextOptions, nextSteps, nextText } from './next-steps.ts'
import type { Output } from './output.ts'
import { durationText } from './quantity-text.ts'

export interface ResultTextOptions extends Pick<Output, 'colors' | 'width' | 'quiet'>, NextOptions {
  /** Page to open first, as the user would type it. */
  readonly page: string
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
  const show = options.dry ? [] : [`evsys show ${experiment_id}`]
  return [
    first,
    labelledLines(facts, options),
    armTable(result, options),
    nextText([...show, ...nextSteps(result, options)], colors),
  ].join('\n\n')
}
