// What a candidate prints: lines that begin with a mark are reports to us, everything else is its log. Nothing of it is trusted. The end
// of the log is kept for people and for the proposer of the next candidate.
import { visibleText } from '../../kernel/index.ts'

const tailLength = 4000

/** The end of a log, safe to show: bounded, without characters that act, every line marked as quoted. */
export class LogTail {
  #text = ''
  #withheld: string | undefined

  add(text: string): void {
    if (this.#withheld === undefined) this.#text = tailOf(this.#text, text)
    else this.#withheld = tailOf(this.#withheld, text)
  }

  /**
   * From now on it may print what it was asked, and the proposer of the next candidate must not learn that by the log: of what follows
   * only an error is shown, with its places in the code.
   */
  withhold(): void {
    this.#withheld ??= ''
  }

  /** Everything, to classify the fault. Not for showing. */
  get raw(): string {
    return `${this.#text}${this.#withheld ?? ''}`
  }

  /** What may be shown. */
  get #shown(): string {
    return this.#withheld === undefined ? this.#text : `${this.#text.trimEnd()}\n${faultIn(this.#withheld)}`
  }

  /** The line that names the error, or the last that says something, quoted and short: for reasons. */
  get lastLine(): string {
    return lastLine(this.#shown)
  }

  /** Absent where nothing was printed. */
  quoted(): { log?: string | undefined } {
    const text = visibleText(this.#shown.trim(), { newlines: true })
    if (text === '') return {}
    const tail = text.length > tailLength ? `…${text.slice(-tailLength)}` : text
    const log = tail
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n')
    return { log }
  }
}

/** The line that names the error, or the last that says something, quoted and short: for reasons. */
export function lastLine(text: string): string {
  const lines = text.split('\n').filter((each) => each.trim() !== '' && !/^Node\.js v\d/.test(each))
  const line = lines.findLast((each) => errorLine.test(each)) ?? lines.at(-1)
  return line === undefined ? '' : JSON.stringify(visibleText(line.trim().slice(0, 300)))
}

function tailOf(before: string, text: string): string {
  return `${before}${text.slice(-2 * tailLength)}`.slice(-2 * tailLength)
}

const longestFault = 160
const mostPlaces = 3

function faultIn(text: string): string {
  const fault = text.split('\n').findLast((line) => errorLine.test(line.trim()))
  if (fault === undefined) return ''
  const places = [...text.matchAll(/([\w.-]{1,40}\.(?:[cm]?js|ts|py))(?:"?, line |:)(\d{1,6})/g)]
  const shown = places.slice(-mostPlaces).map(([, file, line]) => `    at ${file}:${line}`)
  return [...shown, fault.trim().slice(0, longestFault)].join('\n')
}

const errorLine = /^\w*(?:Error|Exception)\b/

/** Begins a line that the API module writes. */
const mark = '@evsys '

interface LineReader {
  read(text: string): void
  /** Reads what is left after the last end of a line. */
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
