// The end of what a candidate printed, for people and for whoever writes the next candidate.
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
   * From now on it may print what it was asked, and whoever writes the next candidate must not learn that by the log: of what follows
   * only an error is told, with its places in the code.
   */
  withhold(): void {
    this.#withheld ??= ''
  }

  /** Everything, to tell what kind of fault it was. Not for showing. */
  get raw(): string {
    return `${this.#text}${this.#withheld ?? ''}`
  }

  /** What may be shown. */
  get #told(): string {
    return this.#withheld === undefined ? this.#text : `${this.#text.trimEnd()}\n${faultIn(this.#withheld)}`
  }

  /** The line that names the error, or the last that says something, quoted and short: for reasons. */
  get lastLine(): string {
    return lastLine(this.#told)
  }

  /** Absent where nothing was printed. */
  quoted(): { log?: string } {
    const text = visibleText(this.#told.trim(), { newlines: true })
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
  const told = places.slice(-mostPlaces).map(([, file, line]) => `    at ${file}:${line}`)
  return [...told, fault.trim().slice(0, longestFault)].join('\n')
}

const errorLine = /^\w*(?:Error|Exception)\b/
