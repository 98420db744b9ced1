// What a task expects, as text. A task that expects something else has a fault: that is told, not scored as a wrong answer.
import { EvsysError } from '../../kernel/index.ts'

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
