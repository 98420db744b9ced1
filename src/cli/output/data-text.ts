// What a run was trained on, for people: how many rows each step left, rows before and after, and tokens with those that are trained on
// in brackets.

import type { DataPreview, RunDataPreview } from '../../contracts/index.ts'
import { visibleText } from '../../kernel/index.ts'
import type { Colors } from './colors.ts'
import { countText, shorten } from './text.ts'

const longestRow = 300

/** Of several runs; those that train on the same tokens are shown once. */
export function dataTexts(runs: readonly RunDataPreview[], style: { colors: Colors }): string[] {
  const shown = new Set<string>()
  return runs.flatMap(({ name, preview }) => {
    if (preview === null) return []
    const key = JSON.stringify([preview.hash, preview.examples])
    if (shown.has(key)) return []
    shown.add(key)
    return [dataText(name, preview, style)]
  })
}

function dataText(name: string, preview: DataPreview, { colors }: { colors: Colors }): string {
  const { source, transforms, rows, hash, before, after, examples } = preview
  const steps = [`${source.kind} ${source.rows}`, ...transforms.map(({ kind, rows: left }) => `${kind} ${left}`)]
  const listed = (placed: DataPreview['before'], show: (row: Record<string, unknown>) => string) =>
    placed.map(({ place, row }) => `  ${colors.dim(visibleText(place))}\n${indented(show(row))}`)
  return [
    `${colors.bold(`data of ${visibleText(name)}`)}: ${countText(rows, 'row')}, ${hash.slice(0, 12)}; ${steps.join(' > ')}`,
    colors.bold('before'),
    ...listed(before, (row) => shorten(visibleText(JSON.stringify(row)), longestRow)),
    colors.bold('after'),
    ...listed(after, rowText),
    ...(examples.length === 0
      ? []
      : [
          colors.bold('tokens of the first batch, those that are trained on in brackets'),
          ...examples.map((example) => indented(tokensText(example, colors))),
        ]),
  ].join('\n')
}

function rowText(row: Record<string, unknown>): string {
  const { messages, metadata: _metadata, ...rest } = row
  const lines = Array.isArray(messages) ? messages.map(messageText) : []
  return [...lines, ...(Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : [])]
    .map((line) => shorten(visibleText(line), longestRow))
    .join('\n')
}

function messageText(message: unknown): string {
  const { role, content, ...rest } = Object(message) as Record<string, unknown> // a row of the record: looked at key by key
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const more = Object.values(rest).some((value) => value !== undefined) ? ` ${JSON.stringify(rest)}` : ''
  return `${String(role)}: ${text}${more}`
}

/** The text of the tokens; runs of tokens with a weight stand in brackets, with the weight where it is not 1. */
function tokensText({ text, weights, length }: DataPreview['examples'][number], colors: Colors): string {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const weight = weights[at] ?? 0
    let end = at
    while (end < text.length && (weights[end] ?? 0) === weight) end++
    const run = visibleText(text.slice(at, end).join(''))
    const mark = weight === 1 ? '' : `*${Number(weight.toPrecision(3))}`
    parts.push(weight === 0 ? run : colors.green(`[${run}]${mark}`))
    at = end
  }
  const trained = weights.filter((weight) => weight !== 0).length
  const rest = length > text.length ? `, the first ${text.length} shown` : ''
  return `${parts.join('')}\n${colors.dim(`${countText(length, 'token')}${rest}, ${trained} trained on`)}`
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
