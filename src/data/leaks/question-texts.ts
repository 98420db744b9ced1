// What a training row asks, for comparing it with the questions of a benchmark.
import type { ChatMessage, RowFormat, RowOf } from '../../contracts/index.ts'

/** The texts of a row that a question could have been taken from. */
export function questionTexts(row: RowOf[RowFormat]): string[] {
  if ('messages' in row) {
    return row.messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content))
  }
  if ('instruction' in row) return [row.instruction]
  const values = Object.values(row.inputs).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return values.length > 1 ? [...values, values.join('\n')] : values
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
    .join('\n')
}
