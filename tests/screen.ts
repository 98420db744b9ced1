// A terminal as far as our output uses one: lines of text, and the few sequences that move the cursor and erase.
import type { TextSink } from '../src/cli/index.ts'

export interface Screen extends TextSink {
  readonly isTTY: true
  columns: number
  rows: number
  /** Lines as they stand now, without colours, those that scrolled away first. */
  lines(): string[]
  /** Every text that was written, one by one. */
  readonly writes: string[]
}

const escapeCharacter = String.fromCharCode(27)
const sequence = new RegExp(`${escapeCharacter}\\[([0-9;]*)([A-Za-z])|([\\s\\S])`, 'g')

export function createScreen(columns = 80, rows = 24): Screen {
  let lines: string[][] = [[]]
  let row = 0
  let column = 0
  const writes: string[] = []
  const put = (char: string) => {
    const line = lines[row] ?? []
    lines[row] = line
    if (column >= screen.columns) throw new Error(`a line is wider than ${screen.columns} columns: ${line.join('')}`)
    while (line.length < column) line.push(' ')
    line[column] = char
    column += 1
  }
  const control = (parameter: string, command: string) => {
    const n = parameter === '' ? 0 : Number(parameter)
    // What scrolled out of sight cannot be reached: a block that is too high would leave its top behind.
    if (command === 'A') {
      if (n >= screen.rows) throw new Error(`the cursor moves up ${n} lines on a screen of ${screen.rows}`)
      row = Math.max(0, row - n)
    } else if (command === 'K') (lines[row] ?? []).length = column
    else if (command === 'J') {
      ;(lines[row] ?? []).length = column
      lines = lines.slice(0, row + 1)
    } else if (command !== 'm') throw new Error(`the screen knows no ${JSON.stringify(command)}`)
  }
  const screen: Screen = {
    isTTY: true,
    columns,
    rows,
    writes,
    write(text) {
      writes.push(text)
      for (const [, parameter, command, char] of text.matchAll(sequence)) {
        if (command !== undefined) control(parameter ?? '', command)
        else if (char === '\n') {
          row += 1
          column = 0
          lines[row] ??= []
        } else if (char === '\r') column = 0
        else put(char ?? '')
      }
    },
    lines: () => lines.map((line) => line.join('').trimEnd()),
  }
  return screen
}
