// The JSON in what a model wrote: between words, in a fence, cut off in the middle, with the mistakes that models make.

/**
 * The values in every part of a text that may be the answer, the likeliest part first: each fence, then all of it. Of a part that is
 * cut off, the objects that are whole.
 */
export function readJson(text: string): unknown[][] {
  return [...fenced(text), text.trim()].flatMap((part) => {
    const start = part.search(/[{[]/)
    if (start === -1) return []
    const body = part.slice(start)
    const whole = parseLoosely(body) ?? parseLoosely(balanced(body))
    const values = whole === undefined ? wholeObjects(body) : [whole]
    return values.length === 0 ? [] : [values]
  })
}

function fenced(text: string): string[] {
  return [...text.matchAll(/(`{3,}|~{3,})[ \t]*(?:json5?|JSON)?[ \t]*\n([\s\S]*?)(?:\n[ \t]*\1|$)/g)].map(
    ([, , body = '']) => body.trim(),
  )
}

/** As JSON, or as JSON with commas too many and line ends inside texts. */
function parseLoosely(text: string): unknown {
  for (const attempt of [(each: string) => each, mended]) {
    try {
      return JSON.parse(attempt(text))
    } catch {
      // the next way
    }
  }
  return undefined
}

function mended(text: string): string {
  let out = ''
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (inText && char === '\\') {
      const next = text[at + 1] ?? ''
      // An escape that JSON does not know stands for itself.
      out += /["\\/bfnrtu]/.test(next) ? char + next : `\\\\${next}`
      at++
    } else if (char === '"') {
      inText = !inText
      out += char
    } else if (inText && char < ' ') out += char === '\n' ? '\\n' : char === '\t' ? '\\t' : ''
    else if (!inText && char === ',' && /^\s*[}\]]/.test(text.slice(at + 1, at + 200))) continue
    else out += char
  }
  return out
}

/** From an opening bracket to the one that closes it; all, where none does. */
function balanced(text: string): string {
  let depth = 0
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inText) {
      if (char === '\\') at++
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return text.slice(0, at + 1)
  }
  return text
}

// Outermost objects that are closed, inside those that are not.
function wholeObjects(text: string): unknown[] {
  const opened: number[] = []
  const spans: [number, number][] = []
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inText) {
      if (char === '\\') at++
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else if (char === '{') opened.push(at)
    else if (char === '}') {
      const start = opened.pop()
      if (start !== undefined) spans.push([start, at + 1])
    }
  }
  const outer = spans.filter(([start, end]) => !spans.some(([s, e]) => s < start && e >= end))
  return outer.sort(([a], [b]) => a - b).flatMap(([start, end]) => parseLoosely(text.slice(start, end)) ?? [])
}
