import * as z from 'zod'
import { defineVerifier, EvsysError, messageOf } from '../../kernel/index.ts'
import { boundedSearch, longestPattern } from './bounded-search.ts'
import { expectedText } from './expected-text.ts'

/** The answer has a match of the expected pattern. */
export const regexMatch = defineVerifier({
  kind: 'regex_match',
  summary: 'Reward 1 if the expected regular expression (JavaScript) matches somewhere in the answer.',
  params: z.strictObject({
    ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.'),
  }),
  verify({ output, expected }, { params }) {
    const pattern = checkedPattern(expectedText(expected, 'regex_match'))
    const result = boundedSearch(pattern, params.ignore_case ? 'i' : '', output)
    if (result === 'took too long') return { reward: 0, info: { reason: 'the search took too long' } }
    return result === 'found' ? 1 : 0
  },
})

function checkedPattern(pattern: string): string {
  if (pattern.length > longestPattern) {
    throw invalid(`is longer than ${longestPattern} characters`, 'write a shorter pattern.')
  }
  try {
    new RegExp(pattern)
    return pattern
  } catch (cause) {
    throw invalid(
      `does not compile: ${messageOf(cause)}`,
      'write a JavaScript regular expression, without the slashes.',
    )
  }
}

function invalid(what: string, fix: string): EvsysError {
  return new EvsysError('DATA_INVALID', `regex_match: the expected pattern ${what}`, { fix })
}
