import * as z from 'zod'
import { defineVerifier } from '../../kernel/index.ts'
import { expectedText } from './expected-text.ts'

/** The answer is the expected text. */
export const exactMatch = defineVerifier({
  kind: 'exact_match',
  summary: 'Reward 1 if the answer is the expected text; white space at both ends does not count.',
  params: z.strictObject({
    ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.'),
  }),
  verify({ output, expected }, { params }) {
    const fold = (text: string) => (params.ignore_case ? text.trim().toLowerCase() : text.trim())
    return fold(output) === fold(expectedText(expected, 'exact_match')) ? 1 : 0
  },
})
