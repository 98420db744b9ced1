// How a process with foreign code and its parent write to each other: one JSON document per line, over private pipes. Every line of
// the child begins with a token that only our side of the child knows, so nothing that foreign code writes, wherever it writes it,
// is taken for a message.

/** The child writes messages here. */
export const outputFd = 3
/** The child reads here; its end is the end of the child. */
export const inputFd = 4
/** The child's watchdog thread writes here: its lines never stand in the middle of a message. */
export const watchdogFd = 5

// Kept before foreign code can replace them.
const { stringify, parse } = JSON

/** JSON that also carries NaN and the infinities, which YAML has. A bigint becomes text; what JSON cannot say at all is dropped. */
export function toWire(value: unknown): string {
  return stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return String(each)
    return typeof each === 'number' && !Number.isFinite(each) ? { [numberKey]: String(each) } : each
  })
}

export function fromWire(text: string): unknown {
  if (!text.includes(numberKeyText)) return parse(text)
  return parse(text, (_key, each: unknown) => {
    const number: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, numberKey) : undefined
    return typeof number === 'string' ? Number(number) : each
  })
}

const numberKey = '\u0000number'
const numberKeyText = '\\u0000number'

export type TokenLinesOptions = {
  token: string
  longest: number
  onLine(text: string): void
  /** Whatever stands before a token, or on a line without one: foreign code wrote it. */
  onOther(text: string): void
  onFlood(): void
}

/** The longest line that is no message. */
const longestOther = 1024 * 1024

/** Returns what takes the text of a pipe, piece by piece. */
export function readTokenLines({ token, longest, ...on }: TokenLinesOptions): (text: string) => void {
  // Pieces of a line that has not ended: joined once, when it does.
  let pieces: string[] = []
  let length = 0
  const take = (line: string) => {
    const at = line.indexOf(token)
    if (at !== 0) on.onOther(at === -1 ? `${line}\n` : line.slice(0, at))
    if (at !== -1) on.onLine(line.slice(at + token.length))
  }
  return (text) => {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      take(pieces.length === 0 ? line : `${pieces.join('')}${line}`)
      pieces = []
      length = 0
    }
    if (rest === '') return
    pieces.push(rest)
    length += rest.length
    const [head = ''] = pieces
    const isMessage = head.startsWith(token) || token.startsWith(head)
    if (length <= (isMessage ? longest : Math.min(longest, longestOther))) return
    pieces = []
    length = 0
    on.onFlood()
  }
}
