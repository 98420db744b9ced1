import * as z from 'zod'
import { defineVerifier } from '../../kernel/index.ts'
import { expectedText } from './expected-text.ts'
import { markedAnswer } from './final-answer.ts'
import { isSameMath } from './math/is-same-math.ts'
import { parseMath } from './math/parse-math.ts'

/** The answer means the same as the expected expression. */
export const math = defineVerifier({
  kind: 'math',
  summary: 'Reward 1 if the final answer means the same as the expected one in mathematics; nothing is executed.',
  params: z.strictObject({
    whole_answer: z
      .boolean()
      .default(false)
      .describe('Take the whole answer instead of looking for \\boxed{}, <answer>, #### or "answer is".'),
  }),
  verify({ output, expected }, { params }) {
    const wanted = expectedText(expected, 'math')
    const final = (params.whole_answer ? undefined : markedAnswer(output)) ?? lastLine(output)
    if (plain(final) === plain(wanted)) return plain(final) === '' ? 0 : 1
    const given = parseMath(final)
    const meant = parseMath(markedAnswer(wanted) ?? wanted)
    if (meant === undefined)
      return { reward: 0, info: { reason: 'the expected answer is no mathematics that is known here' } }
    if (given === undefined) return { reward: 0, info: { reason: 'the answer is no mathematics that is known here' } }
    return isSameMath(given, meant) ? 1 : 0
  },
})

// Without a mark the last line counts, so that a derivation is not taken for its result.
function lastLine(output: string): string {
  return output.slice(-10_000).trimEnd().split('\n').at(-1)?.trim() ?? ''
}

// Spaces do not count, but between two numbers.
function plain(text: string): string {
  return text
    .replace(/^\$+|\$+$/g, '')
    .replace(/\\(?:left|right)/g, '')
    .replace(/(?<!\d)\s+|\s+(?!\d)/g, '')
    .replace(/\.$/, '')
}
