// Patterns come from foreign files and run in a backtracking engine that nothing can stop. A repeated group can take
// exponential time ((a+)+, (a|ab)*), so only single characters and classes may be repeated without bound; no tokenizer in
// use needs more. What stays possible is polynomial: several overlapping repetitions in a row, over a long text.

const longestPattern = 20_000
const mostRepeats = 1000
const mostInARow = 3

/** Why a pattern is not safe to run, or undefined. Reads the syntax that tokenizer files share with JavaScript. */
export function patternDanger(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return `the pattern has more than ${longestPattern} characters`
  let at = 0
  let unitIsGroup = false
  let inARow = 0
  while (at < pattern.length) {
    // A second + or ? makes a repetition possessive or lazy.
    const repeat = /^(?:[*+?]|\{(\d*)(,?)(\d*)\})(?=([+?]?))/.exec(pattern.slice(at, at + 30))
    if (repeat !== null && at > 0) {
      const [text, low = '', comma = '', high = '', manner = ''] = repeat
      const bound = text === '?' ? 1 : boundOf(text, low, comma, high)
      const isUnbounded = bound > mostRepeats
      if (unitIsGroup && bound > 1) return 'a group is repeated'
      if (isUnbounded && ++inARow > mostInARow) return `more than ${mostInARow} repetitions stand in a row`
      at += text.length + manner.length
      continue
    }
    const char = pattern[at]
    if (char === '\\') {
      if (/[1-9k]/.test(pattern[at + 1] ?? '')) return 'it refers back to a group'
      at += /^\\[pPxu]\{[^}]*\}/.exec(pattern.slice(at, at + 60))?.[0].length ?? 2
      unitIsGroup = false
    } else if (char === '[') {
      at = classEnd(pattern, at)
      unitIsGroup = false
    } else {
      if (char === '|' || char === '(') inARow = 0
      unitIsGroup = char === ')'
      at++
    }
  }
  return undefined
}

function boundOf(text: string, low: string, comma: string, high: string): number {
  return text.length === 1 || (comma !== '' && high === '') ? Number.POSITIVE_INFINITY : Number(high || low)
}

function classEnd(pattern: string, start: number): number {
  let depth = 0
  for (let at = start; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === '[') depth++
    else if (pattern[at] === ']' && at > start + 1 && --depth === 0) return at + 1
  }
  return pattern.length
}
