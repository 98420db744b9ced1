// Reads a segment while it grows, into the record. The worker that writes it holds foreign code, so a line is believed only when
// it is what was promised: the next number, and an item of this run. The last line counts once its end is there: a torn one is
// ignored.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import * as z from 'zod'
import { EvalMark, Item } from '../../contracts/index.ts'
import { checkValue, EvsysError, fileWork, ifPresent, messageOf, type ValueIssue } from '../../kernel/index.ts'
import type { Lease, OpenStore, RunRow } from '../../store/index.ts'

export interface SegmentOptions {
  /** Items of any other run are refused. */
  readonly runId?: string | undefined
  readonly longestLineBytes?: number | undefined
}

const newline = 10
/** Read at a time; most segments are short, and the chunks of long ones double. */
const firstChunkBytes = 16 * 1024
const mostChunkBytes = 256 * 1024
/** The scores of a large benchmark are the longest item there is. */
const defaultLongestLineBytes = 64 * 1024 * 1024
/** So much is parsed at a time, however few items that is. */
const callBytes = 16 * 1024 * 1024

/** Reads the items of a segment from number `from` on. A file that does not exist yet has none. */
export function readSegment(
  file: string,
  from: number,
  { runId, longestLineBytes = defaultLongestLineBytes }: SegmentOptions = {},
) {
  let handle: FileHandle | undefined
  let offset = 0 // of the next byte to read
  let rest: Buffer = Buffer.alloc(0) // read, not yet handed out
  let chunkBytes = firstChunkBytes
  let searched = 0 // of `rest`, without finding an end of line
  let line = 0
  let last: number | undefined

  const parse = (bytes: Buffer): SegmentItem | undefined => {
    line += 1
    const { n, item } = parseLine(bytes, (message) => damaged(file, line, message))
    const expected = last === undefined ? undefined : last + 1
    if (expected !== undefined && n !== expected)
      throw damaged(file, line, `item ${n} stands where ${expected} belongs`)
    if (expected === undefined && n > from) throw damaged(file, line, `items ${from} to ${n - 1} are missing`)
    last = n
    if (runId !== undefined && (!('run_id' in item) || 'experiment_id' in item || item.run_id !== runId))
      throw damaged(file, line, 'the item is not one of this run')
    if (item.type === 'eval.started' || item.type === 'eval.finished')
      throw damaged(file, line, 'a run says what an evaluation found, which is recorded by those who measured it')
    return n < from ? undefined : item
  }

  const fill = async (): Promise<boolean> => {
    handle ??= await openSegment(file)
    const opened = handle
    if (opened === undefined) return false
    const chunk = Buffer.allocUnsafe(Math.max(chunkBytes, rest.length)) // doubled, so that a long line is copied a few times only
    const { bytesRead } = await fileWork('read', file, () => opened.read(chunk, 0, chunk.length, offset))
    offset += bytesRead
    if (bytesRead === chunk.length) chunkBytes = Math.min(2 * chunkBytes, mostChunkBytes)
    rest = rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    return bytesRead > 0
  }

  return {
    /** Up to `limit` further items, those that are there by now. */
    async next(limit: number): Promise<SegmentItem[]> {
      const items: SegmentItem[] = []
      let parsedBytes = 0
      while (items.length < limit && parsedBytes < callBytes) {
        const end = rest.indexOf(newline, searched)
        if (end === -1) {
          searched = rest.length
          if (rest.length > longestLineBytes)
            throw damaged(file, line + 1, `it is longer than ${longestLineBytes} bytes`)
          if (!(await fill())) break
          continue
        }
        const bytes = rest.subarray(0, end)
        rest = rest.subarray(end + 1)
        searched = 0
        parsedBytes += end
        const item = parse(bytes)
        if (item !== undefined) items.push(item)
      }
      return items
    },
    async close() {
      await handle?.close()
      handle = undefined
    },
  }
}

// A pipe in its place would be waited for, and a link lead elsewhere.
async function openSegment(file: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const opened = await ifPresent('read', file, () => open(file, flags)).catch((cause) => {
    throw damaged(file, 1, messageOf(cause))
  })
  if (opened === undefined || (await opened.stat()).isFile()) return opened
  await opened.close()
  throw damaged(file, 1, 'it is no file')
}

/** What a run reports: its items, and where its evaluations stand among them. */
export type SegmentItem = Item | EvalMark

const Line = z.strictObject({ n: z.int().min(1), item: z.union([Item, EvalMark]) })

function parseLine(bytes: Buffer, fault: (message: string) => EvsysError): z.infer<typeof Line> {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw fault('it is not valid JSON')
  }
  const checked = checkValue(Line, value)
  if (checked.ok) return checked.value
  throw fault(`it holds no item: ${firstFault(checked.issues)}`)
}

function firstFault([issue]: readonly ValueIssue[]): string {
  return [...(issue?.path ?? []), issue?.message ?? ''].join(': ')
}

function damaged(file: string, line: number, message: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the segment is damaged: ${message}`, {
    where: { file, line, col: 1 },
    fix: 'look for a plugin that writes into the folder of its run; `--resume` does the run again from its last checkpoint.',
  })
}

interface IntakeOptions {
  readonly store: Pick<OpenStore, 'push'>
  readonly lease: Lease
  /** Sees every item once it is stored. */
  onItem(row: RunRow, item: Item): void
  /** What stands in the record for an item of the segment; throws where that is not for the run to say. */
  recorded(item: SegmentItem): Item
}

/** Items per transaction. */
const BATCH = 500

/** Stores `file` from item `from` on, in order, a batch per transaction. `onFailed` sees the first failure; nothing is stored after it. */
export function createIntake(
  row: RunRow,
  file: string,
  from: number,
  { store, lease, onItem, recorded }: IntakeOptions,
  onFailed: (error: unknown) => void = () => {},
) {
  const reader = readSegment(file, from, { runId: row.id })
  let next = from
  let working: Promise<void> = Promise.resolve()
  let isAsked = false

  const take = async () => {
    for (;;) {
      const reported = await reader.next(BATCH)
      if (reported.length === 0) return
      const { items, fault } = whatIsRecorded(reported, recorded)
      if (items.length > 0) {
        const { nextSeq } = await store.push({ stream: `run:${row.id}`, fromSeq: next, items }, lease)
        next = nextSeq
        for (const item of items) onItem(row, item)
      }
      if (fault !== undefined) throw fault.error
    }
  }
  /** Stores what is there by now; an error of this or an earlier reading. */
  const drain = () => {
    working = working.then(() => {
      isAsked = false
      return take()
    })
    return working
  }
  return {
    drain,
    /** There is more to read. */
    onWritten() {
      if (isAsked) return
      isAsked = true
      drain().catch(onFailed) // `drain` throws it
    },
    async close() {
      await working.catch(() => {}) // thrown by `drain`
      await reader.close()
    },
  }
}

/** Up to the first item that is refused: what stands before it is true. */
function whatIsRecorded(reported: readonly SegmentItem[], recorded: IntakeOptions['recorded']) {
  const items: Item[] = []
  for (const item of reported) {
    try {
      items.push(recorded(item))
    } catch (error) {
      return { items, fault: { error } }
    }
  }
  return { items }
}
