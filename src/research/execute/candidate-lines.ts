// What a candidate writes to its output: lines that begin with the mark are for us, everything else is its log. Nothing of
// it is taken at its word.

/** Begins a line that the API module writes. */
const mark = '@evsys '

export interface LineReader {
  read(text: string): void
  /** What stands after the last end of a line. */
  finish(): void
}

/** Calls `onMessage` with what follows the mark; a marked line that grows past `longest` is `onLong`. */
export function readLines(options: {
  readonly longest: number
  onMessage(text: string): void
  onLog(text: string): void
  onLong(): void
}): LineReader {
  let parts: string[] = []
  let length = 0
  let isLog = false
  let head = ''
  const add = (text: string) => {
    if (isLog) return options.onLog(text)
    parts.push(text)
    length += text.length
    if (head.length < mark.length) head = (head + text).slice(0, mark.length)
    if (head.length === mark.length && head !== mark) {
      isLog = true
      options.onLog(parts.join(''))
      parts = []
      length = 0
    } else if (length > options.longest) {
      options.onLong()
      parts = []
      length = 0
      isLog = true
    }
  }
  const end = (newline: boolean) => {
    const line = parts.join('')
    if (!isLog && line.startsWith(mark)) options.onMessage(line.slice(mark.length))
    else if (newline || line !== '') options.onLog(newline ? `${line}\n` : line)
    parts = []
    length = 0
    isLog = false
    head = ''
  }
  return {
    read(text) {
      let from = 0
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        add(text.slice(from, at))
        end(true)
        from = at + 1
      }
      if (from < text.length) add(text.slice(from))
    },
    finish: () => end(false),
  }
}
