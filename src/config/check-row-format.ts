// Whether the rows that come out of a data block are of the kind that the algorithm takes, as far as that can be told before
// anything runs: by the keys of the first row, and by built-in transforms whose outcome is known.
import type { Row, RowFormat } from '../contracts/index.ts'
import type { Catalog } from '../kernel/index.ts'
import { type LocatedNode, nodeAt, textOf } from './located.ts'
import { itemsOf } from './plugin-uses.ts'
import type { Report } from './report.ts'

/** What built-in transforms make of rows: a shape that they add, or `kept`. Others may do anything. */
const outcomes: Readonly<Record<string, RowFormat | 'kept'>> = {
  identity: 'kept',
  dedupe: 'kept',
  filter: 'kept',
  sample: 'kept',
  shuffle: 'kept',
  mix: 'kept',
  split: 'kept',
  drop_reasoning: 'kept',
  keep_reasoning: 'kept',
  system_prompt: 'kept',
  jsonl_to_chat: 'chat_messages',
  to_harbor_task: 'harbor_task',
  to_prompt_example: 'prompt_dataset',
}

export function checkRowFormat(
  { algorithm, data, row }: { algorithm: LocatedNode; data: LocatedNode; row: Row | undefined },
  catalog: Catalog,
  report: Report,
): void {
  const kind = textOf(nodeAt(algorithm, ['kind'])) ?? ''
  const wanted = catalog.card('algorithm', kind)?.facts.rowFormat
  const transforms = itemsOf(nodeAt(data, ['transforms'])).map((item) => textOf(nodeAt(item, ['kind'])) ?? '')
  const steps = transforms.map((name) =>
    catalog.card('transform', name)?.origin === 'built-in' ? outcomes[name] : undefined,
  )
  const formats = row === undefined ? undefined : formatsOf(row)
  for (const step of steps) {
    if (step === undefined) return
    if (step !== 'kept') formats?.add(step)
  }
  const known = formats ?? new Set(steps.filter((step) => step !== 'kept'))
  if (wanted === undefined || [...known].some((format) => format === wanted)) return
  if (known.size === 0) {
    if (row !== undefined)
      report.notice(
        `The rows have no known shape, and ${kind} takes ${wanted} rows: a transform can make them.`,
        data.origin,
      )
    return
  }
  if (formats === undefined) return // an unread source may bring the wanted shape itself
  const message = `${kind} takes ${wanted} rows, and these are ${[...known].join(', ')}`
  report.problem(data.origin, { code: 'DATA_INVALID', message, fix: fixFor(wanted) })
}

function formatsOf(row: Row): Set<string> {
  const formats = new Set<string>()
  if ('task_id' in row && 'verifier' in row) formats.add('harbor_task')
  if ('inputs' in row && 'expected' in row) formats.add('prompt_dataset')
  if ('messages' in row) formats.add('chat_messages')
  if ('chosen' in row && 'rejected' in row) formats.add('preference_pair')
  return formats
}

function fixFor(wanted: string): string {
  const [transform] = Object.entries(outcomes).find(([, outcome]) => outcome === wanted) ?? []
  return transform === undefined
    ? 'add a transform that makes such rows.'
    : `add the transform ${transform}, or another that makes such rows.`
}
