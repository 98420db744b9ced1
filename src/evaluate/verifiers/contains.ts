import * as z from 'zod'
import { defineVerifier } from '../../kernel/index.ts'
import { expectedText } from './expected-text.ts'

/** The answer holds the expected text. */
export const contains = defineVerifier({
  kind: 'contains',
  summary: 'Reward 1 if the expected text, which must not be empty, stands somewhere in the answer.',
  params: z.strictObject({
    ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.'),
  }),
  verify({ output, expected }, { params }) {
    const fold = (text: string) => (params.ignore_case ? text.toLowerCase() : text)
    const wanted = fold(expectedText(expected, 'contains'))
    if (wanted === '') return { reward: 0, info: { reason: 'the expected text is empty' } }
    return fold(output).includes(wanted) ? 1 : 0
  },
})
