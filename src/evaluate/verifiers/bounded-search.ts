// A regular expression that cannot hang the process. Backtracking may take longer than the universe lasts, a task's pattern is
// data, and a model can write the very answer that triggers it. So the pattern and the searched text are limited in length,
// and V8 searches in a context that is interrupted after a deadline.
import { createContext, Script } from 'node:vm'

export const longestPattern = 1_000
/** Only so much of an answer is searched. */
const longestSearched = 100_000
/** Thousands of times what an honest search of such a text takes: a slow machine decides no reward. */
const deadlineMs = 1_000

type SearchResult = 'found' | 'not found' | 'took too long'

/** Whether `pattern` matches somewhere in the first part of `text`. The pattern must compile. */
export function boundedSearch(pattern: string, flags: string, text: string): SearchResult {
  const searched = text.slice(0, longestSearched)
  try {
    const { context, script } = search()
    Object.assign(context, { pattern, flags, text: searched })
    return script.runInContext(context, { timeout: deadlineMs }) === true ? 'found' : 'not found'
  } catch (cause) {
    if (Reflect.get(Object(cause), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'took too long'
    throw cause
  }
}

// Made on first use: a context takes a millisecond, and most runs search nothing.
let kept: { context: object; script: Script } | undefined
function search() {
  kept ??= { context: createContext({ __proto__: null }), script: new Script('new RegExp(pattern, flags).test(text)') }
  return kept
}
