// Which part of an answer is its final answer. One rule for all verifiers that read values, and the last mark counts: an answer
// that lists many candidates is judged by the one it ends with.

/** Only so much of the end of an answer is looked at. */
const longestRead = 100_000

/**
 * What an answer marks as final, by the first of these that it has, each at its last place: `\boxed{...}`,
 * `<answer>...</answer>`, the rest of a line after `####`, the rest of a line after "answer is" or "answer:". Undefined: none.
 */
export function markedAnswer(output: string): string | undefined {
  const text = output.slice(-longestRead)
  return boxed(text) ?? tagged(text) ?? afterMark(text, '####') ?? afterWords(text)
}

function boxed(text: string): string | undefined {
  for (const command of ['\\boxed', '\\fbox']) {
    const at = text.lastIndexOf(command)
    if (at === -1) continue
    const open = text.indexOf('{', at)
    if (open !== -1 && text.slice(at + command.length, open).trim() === '') return braced(text, open)
  }
  return undefined
}

// Up to the brace that closes it; one that was never closed marks nothing.
function braced(text: string, open: number): string | undefined {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return text.slice(open + 1, at).trim()
  }
  return undefined
}

function tagged(text: string): string | undefined {
  const close = text.lastIndexOf('</answer>')
  const open = close === -1 ? -1 : text.lastIndexOf('<answer>', close)
  return open === -1 ? undefined : text.slice(open + '<answer>'.length, close).trim()
}

function afterMark(text: string, mark: string): string | undefined {
  const at = text.lastIndexOf(mark)
  return at === -1 ? undefined : restOfLine(text, at + mark.length)
}

function afterWords(text: string): string | undefined {
  const lower = text.toLowerCase()
  const ends = ['answer is', 'answer:', 'answer ='].flatMap((words) => {
    const at = lower.lastIndexOf(words)
    return at === -1 ? [] : [at + words.length]
  })
  return ends.length === 0
    ? undefined
    : restOfLine(text, Math.max(...ends))
        .replace(/^:/, '')
        .trim()
}

function restOfLine(text: string, from: number): string {
  const end = text.indexOf('\n', from)
  return text.slice(from, end === -1 ? text.length : end).trim()
}
