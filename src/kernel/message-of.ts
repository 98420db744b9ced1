// The words of anything that was thrown: plugins and libraries throw strings, numbers, objects and errors alike.
import { inspect } from 'node:util'

// Long enough for a compiler's complaint, short enough that a dumped response body does not bury the fix below it.
const longest = 2_000

/** What was thrown, in words for people: never a stack trace, never empty, bounded in length. */
export function messageOf(cause: unknown): string {
  let text: string
  try {
    text = words(cause)
  } catch {
    text = 'a value was thrown that cannot be read' // a getter or proxy that throws itself
  }
  const clean = withoutStack(text).trim()
  if (clean === '') return 'no message was given'
  return clean.length <= longest ? clean : `${cut(clean)}... (${clean.length} characters)`
}

function words(cause: unknown): string {
  if (typeof cause === 'string') return cause
  if (typeof cause !== 'object' || cause === null) return `${inspect(cause)} was thrown`
  if (cause instanceof AggregateError && cause.errors.length > 0) return aggregate(cause)
  // Reflect.get: errors of other realms (vm, workers) are no instances of this Error.
  const message: unknown = Reflect.get(cause, 'message')
  if (typeof message === 'string' && message.trim() !== '') return message
  const name: unknown = Reflect.get(cause, 'name')
  if (typeof name === 'string' && name !== '') return name
  return `${inspect(cause, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200, maxArrayLength: 10, customInspect: false })} was thrown`
}

// fetch and Promise.any put the reasons here and leave the message empty or general.
function aggregate(cause: AggregateError): string {
  const reasons = cause.errors.slice(0, 5).map((each) => (each instanceof AggregateError ? each.name : messageOf(each)))
  return [cause.message, [...new Set(reasons)].join('; ')].filter((part) => part !== '').join(': ')
}

function cut(text: string): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '') // not through the middle of a character
}

// Some libraries put a whole stack into the message.
function withoutStack(text: string): string {
  return text.replace(/^[ \t]{1,16}at (?:[^\n]*\([^\n]*\)|[^\n]*:\d+:\d+|<anonymous>|native)[ \t\r]*(?:\n|$)/gm, '')
}
