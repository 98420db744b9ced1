// From anything that was thrown to what is printed and stored. It never throws: it runs where errors end.
import { ErrorRecord } from '../contracts/index.ts'
import { EvsysError, type Excerpt, type Problem } from './evsys-error.ts'
import { messageOf } from './message-of.ts'

/** The problems that `error` reports. What is not an `EvsysError` becomes one `INTERNAL` problem with its message. */
export function problemsOf(error: unknown): Problem[] {
  if (!EvsysError.is(error)) return [internal(error)]
  try {
    // The brand may be on an error of another version of evsys, or on a plugin's object: its fields are checked.
    const problems = Array.from(error.problems, checked)
    return problems.length === 0 ? [internal(error)] : problems
  } catch {
    return [internal(error)]
  }
}

function checked(problem: Problem): Problem {
  const { code, message, where, fix, excerpt } = problem
  const record = ErrorRecord.safeParse({ code, message, where, fix })
  if (!record.success) return internal(problem)
  const kept: Problem = record.data
  return isExcerpt(excerpt) ? { ...kept, excerpt } : kept
}

function isExcerpt(value: unknown): value is Excerpt {
  if (typeof value !== 'object' || value === null) return false
  const { text, line, col, length } = value as Partial<Record<keyof Excerpt, unknown>> // every field is tested below
  return typeof text === 'string' && [line, col, length].every((each) => Number.isSafeInteger(each))
}

function internal(error: unknown): Problem {
  return { code: 'INTERNAL', message: messageOf(error) }
}
