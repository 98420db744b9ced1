// Facts with their names before them: the names in a column, the texts wrapped beside it.
import { visibleText } from '../../kernel/index.ts'
import type { Output } from './output.ts'
import { wrap } from './table.ts'

/** `paint` must not change the width of the text on screen. */
export type Fact = readonly [label: string, text: string, paint?: (text: string) => string]

/** Lays out facts. Control characters in them are shown, not sent; line breaks in them are lines. */
export function labelledLines(facts: readonly Fact[], { colors, width }: Pick<Output, 'colors' | 'width'>): string {
  const labelWidth = Math.max(0, ...facts.map(([label]) => label.length)) + 2
  return facts
    .map(([label, text, paint = (plain) => plain]) => {
      const lines = text
        .trim()
        .split('\n')
        .flatMap((line) => wrap(visibleText(line.trimEnd()), Math.max(20, width - labelWidth)))
        .map(paint)
      return `${colors.bold(visibleText(label).padEnd(labelWidth))}${lines.join(`\n${' '.repeat(labelWidth)}`)}`.trimEnd()
    })
    .join('\n')
}
