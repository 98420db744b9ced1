// Reads a segment while it grows. The worker that writes it holds foreign code, so a line is believed only when it is what was
// promised: the next number, and an item of this run. The last line counts once its end is there: a torn one is ignored.
import { type FileHandle, open } from 'node:fs/promises'
import * as z from 'zod'
import { Item } from '../../contracts/index.ts'
import { checkValue, EvsysError, fileError, systemCode } from '../../kernel/index.ts'

export interface SegmentReader {
  /** Up to `limit` further items, those that are there by now. */
  next(limit: number): Promise<Item[]>
  close(): Promise<void>
}

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
): SegmentReader {
  let handle: FileHandle | undefined
  let offset = 0 // of the next byte to read
  let rest: Buffer = Buffer.alloc(0) // read, not yet handed out
  let chunkBytes = firstChunkBytes
  let searched = 0 // of `rest`, without finding an end of line
  let line = 0
  let last: number | undefined

  const parse = (bytes: Buffer): Item | undefined => {
    line += 1
    const { n, item } = parseLine(bytes, (message) => damaged(file, line, message))
    const expected = last === undefined ? undefined : last + 1
    if (expected !== undefined && n !== expected)
      throw damaged(file, line, `item ${n} stands where ${expected} belongs`)
    if (expected === undefined && n > from) throw damaged(file, line, `items ${from} to ${n - 1} are missing`)
    last = n
    if (runId !== undefined && (!('run_id' in item) || 'experiment_id' in item || item.run_id !== runId))
      throw damaged(file, line, 'the item is not one of this run')
    return n < from ? undefined : item
  }

  const fill = async (): Promise<boolean> => {
    handle ??= await openExisting(file)
    if (handle === undefined) return false
    const chunk = Buffer.allocUnsafe(Math.max(chunkBytes, rest.length)) // doubled, so that a long line is copied a few times only
    const { bytesRead } = await readAt(handle, chunk, offset, file)
    offset += bytesRead
    if (bytesRead === chunk.length) chunkBytes = Math.min(2 * chunkBytes, mostChunkBytes)
    rest = rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    return bytesRead > 0
  }

  return {
    async next(limit) {
      const items: Item[] = []
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

const Line = z.strictObject({ n: z.int().min(1), item: Item })

function parseLine(bytes: Buffer, fault: (message: string) => EvsysError): z.infer<typeof Line> {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw fault('it is not valid JSON')
  }
  const checked = checkValue(Line, value)
  if (checked.ok) return checked.value
  const [issue] = checked.issues
  throw fault(`it holds no item: ${[...(issue?.path ?? []), issue?.message ?? ''].join(': ')}`)
}

function damaged(file: string, line: number, message: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the segment is damaged: ${message}`, {
    where: { file, line, col: 1 },
    fix: 'look for a plugin that writes into the folder of its run; `--resume` does the run again from its last checkpoint.',
  })
}

async function openExisting(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw fileError('read', file, cause)
  }
}

async function readAt(handle: FileHandle, chunk: Buffer, offset: number, file: string) {
  try {
    return await handle.read(chunk, 0, chunk.length, offset)
  } catch (cause) {
    throw fileError('read', file, cause)
  }
}
