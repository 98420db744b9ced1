// Verifiers that look at the text of an answer alone: equal, contained, matched by a pattern, of the right form.
import * as z from 'zod'
import { defineVerifier, EvsysError, messageOf } from '../../kernel/index.ts'
import { boundedSearch, longestPattern } from './bounded-search.ts'

export const exactMatch = defineVerifier({
  kind: 'exact_match',
  summary: 'Reward 1 if the answer is the expected text; white space at both ends does not count.',
  params: z.strictObject({ ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.') }),
  verify({ output, expected }, { params }) {
    const fold = (text: string) => (params.ignore_case ? text.trim().toLowerCase() : text.trim())
    return fold(output) === fold(expectedText(expected, 'exact_match')) ? 1 : 0
  },
})

export const contains = defineVerifier({
  kind: 'contains',
  summary: 'Reward 1 if the expected text, which must not be empty, stands somewhere in the answer.',
  params: z.strictObject({ ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.') }),
  verify({ output, expected }, { params }) {
    const fold = (text: string) => (params.ignore_case ? text.toLowerCase() : text)
    const wanted = fold(expectedText(expected, 'contains'))
    if (wanted === '') return { reward: 0, info: { reason: 'the expected text is empty' } }
    return fold(output).includes(wanted) ? 1 : 0
  },
})

export const regexMatch = defineVerifier({
  kind: 'regex_match',
  summary: 'Reward 1 if the expected regular expression (JavaScript) matches somewhere in the answer.',
  params: z.strictObject({ ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.') }),
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

export const formatOnly = defineVerifier({
  kind: 'format_only',
  summary: 'Rewards the form of an answer alone: a <think> block and an <answer> block.',
  params: z.strictObject({
    has_think_reward: z.number().default(0.5).describe('Reward for a <think>...</think> block.'),
    has_answer_reward: z.number().default(0.5).describe('Reward for an <answer>...</answer> block.'),
  }),
  verify({ output }, { params }) {
    const think = hasBlock(output, 'think')
    const answer = hasBlock(output, 'answer')
    return {
      reward: (think ? params.has_think_reward : 0) + (answer ? params.has_answer_reward : 0),
      info: { think, answer },
    }
  },
})

// Plain search: a pattern such as <think>.*?</think> takes quadratic time on an answer of many opening tags.
function hasBlock(text: string, tag: string): boolean {
  const start = text.indexOf(`<${tag}>`)
  return start !== -1 && text.indexOf(`</${tag}>`, start) !== -1
}

// What a task expects, as text. A task that expects something else has a fault: that is reported, not scored as a wrong answer.

/** The expected text; numbers and truth values as JSON writes them. */
export function expectedText(expected: unknown, verifier: string): string {
  if (typeof expected === 'string') return expected
  if (typeof expected === 'boolean' || (typeof expected === 'number' && Number.isFinite(expected)))
    return String(expected)
  const got =
    expected === undefined ? 'nothing' : expected === null ? 'null' : Array.isArray(expected) ? 'a list' : 'a mapping'
  throw new EvsysError('DATA_INVALID', `${verifier}: the task expects ${got}, where a text is needed`, {
    fix: 'give the task’s verifier an `expected` text, number or truth value.',
  })
}
