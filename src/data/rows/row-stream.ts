// Source and transforms as one stream of raw rows. Nothing is read until it is asked for: the reader sets the pace.
import {
  ChatMessagesRow,
  type Context,
  detectFormat,
  HarborTask,
  PreferencePair,
  PromptExample,
  type Row,
  type RowFormat,
  type RowOf,
  type Transform,
} from '../../contracts/index.ts'
import { checkValue, EvsysError, messageOf } from '../../kernel/index.ts'
import { isRow, locationOf, placeOf, typeWords, withPlace } from './raw-row.ts'
import { RowProblems } from './row-problems.ts'

/** A transform with the context it runs in, params included. */
export type TransformStep = { readonly transform: Transform; readonly context: Context<unknown> }

/** The rows of a source after all transforms, each with the place it came from where the transforms kept it. */
export function rowStream(
  source: AsyncIterable<{ row: Row; place: string }>,
  steps: readonly TransformStep[],
): AsyncIterable<Row> {
  return steps.reduce<AsyncIterable<Row>>((rows, step) => runTransform(step, rows), placed(source))
}

async function* placed(source: AsyncIterable<{ row: Row; place: string }>): AsyncGenerator<Row> {
  for await (const { row, place } of source) yield withPlace(row, place)
}

/** The rows after one transform. It throws ordinary errors; they leave here with its name on them, those of stages before have theirs. */
export async function* runTransform(
  { transform, context }: TransformStep,
  rows: AsyncIterable<Row>,
  onRow?: () => void,
): AsyncGenerator<Row, void, undefined> {
  const name = `transform "${transform.kind}"`
  try {
    for await (const row of transform.run(rows, context)) {
      if (!isRow(row)) throw new TypeError(`it yielded ${typeWords(row)} instead of a row`)
      onRow?.()
      yield row
    }
  } catch (cause) {
    if (context.signal.aborted || EvsysError.is(cause)) throw cause
    throw new EvsysError('PLUGIN_FAILED', `${name}: ${messageOf(cause)}`, { cause })
  }
}

// The end of the data pipeline: raw rows become the typed rows that an algorithm takes. Strict, and reported all at once: every
// kind of fault with the place of the first row that has it and how many follow.
const schemas = {
  chat_messages: ChatMessagesRow,
  harbor_task: HarborTask,
  prompt_dataset: PromptExample,
  preference_pair: PreferencePair,
}

/** Typed rows of one format. A row of another shape is an error that names its place, its keys and what they lack. `onRow` sees a
 * row before it is parsed. */
export async function* parseRows<F extends RowFormat>(
  rows: AsyncIterable<Row>,
  format: F,
  { signal, onRow }: { signal: AbortSignal; onRow?: ((row: Row) => void) | undefined },
): AsyncGenerator<RowOf[F], void, undefined> {
  const problems = new RowProblems()
  let index = 0
  for await (const row of rows) {
    signal.throwIfAborted()
    onRow?.(row)
    const parsed = parseRow(row, format)
    if ('value' in parsed) {
      if (problems.none) yield parsed.value
    } else {
      const where = locationOf(row)
      const place = placeOf(row) ?? `row ${index + 1}`
      problems.add(parsed.message, () => ({ place, fix: fixes[format], where }))
      if (problems.full) break
    }
    index++
  }
  problems.throwIfAny()
}

function parseRow<F extends RowFormat>(row: Row, format: F): { value: RowOf[F] } | { message: string } {
  const found = detectFormat(row)
  if (found !== format) {
    const lacking = keys[format].filter((key) => !Object.hasOwn(row, key))
    const why = found === undefined ? `lacks ${lacking.join(' and ')}` : `is a ${found} row`
    return { message: `expected a ${format} row, but it ${why} (it has ${keysOf(row)})` }
  }
  const checked = checkValue(schemas[format], row)
  if (checked.ok) return { value: checked.value as RowOf[F] } // schemas[F] parses to RowOf[F]; TypeScript loses the tie
  const faults = checked.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  return { message: `not a valid ${format} row: ${faults.join('; ')} (it has ${keysOf(row)})` }
}

/** The keys that a row of each format must have. */
const keys: Record<RowFormat, readonly string[]> = {
  chat_messages: ['messages'],
  harbor_task: ['task_id', 'instruction', 'verifier'],
  prompt_dataset: ['inputs', 'expected'],
  preference_pair: ['messages', 'chosen', 'rejected'],
}

const fixes: Record<RowFormat, string> = {
  chat_messages:
    'give it `messages`, a list of { role, content }; the transform jsonl_to_chat makes them from other fields.',
  harbor_task: 'give it task_id, instruction and verifier; the transform to_harbor_task makes them from other fields.',
  prompt_dataset: 'give it inputs and expected; the transform to_prompt_example makes them from other fields.',
  preference_pair:
    'give it `messages`, and `chosen` and `rejected`, the better and the worse answer; jsonl_to_chat makes messages and keeps both.',
}

function keysOf(row: Row): string {
  const all = Object.keys(row)
  if (all.length === 0) return 'no keys'
  const rest = all.length - 20
  return all.slice(0, 20).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
