// Messages out of a pipe that foreign code can write to as well. A message is a line that begins with the token; whatever
// stands before a token, or on a line without one, was written by somebody else.

export type TokenLinesOptions = {
  token: string
  /** Longest line, in characters. */
  longest: number
  /** A message, without its token. */
  onLine(text: string): void
  /** Anything else. */
  onOther(text: string): void
  /** A line is longer than `longest`. */
  onFlood(): void
}

/** Returns what takes the text of the pipe, piece by piece. */
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
    if (length <= longest) return
    pieces = []
    length = 0
    on.onFlood()
  }
}
