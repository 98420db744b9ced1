// The lines of a JSON Lines file, for checks before anything starts. It streams, and knows the shape of nothing: what a row
// should be is for its caller.
import { Buffer } from 'node:buffer'
import { constants, open } from 'node:fs/promises'

export interface JsonLine {
  /** 1-based. */
  readonly line: number
  /** The parsed value, or why there is none. */
  readonly result: { readonly value: unknown } | { readonly fault: string }
}

const chunkBytes = 256 * 1024
/** A line longer than this is not looked into. */
const longestBytes = 64 * 1024 * 1024

/** Lines that are not blank. Throws what the file system throws. */
export async function* readJsonLines(path: string, signal: AbortSignal): AsyncGenerator<JsonLine> {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await file.stat()
  if (!found.isFile()) throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'ENXIO' })
  let carried: Buffer[] = []
  let carriedBytes = 0
  let line = 0
  const take = (part: Buffer): JsonLine | undefined => {
    line += 1
    const isLong = carriedBytes + part.length > longestBytes
    const bytes = isLong ? part : Buffer.concat([...carried, part])
    carried = []
    carriedBytes = 0
    if (isLong) return { line, result: { fault: `the line is longer than ${longestBytes} bytes` } }
    const text = (line === 1 && bytes[0] === 0xef ? bytes.subarray(3) : bytes).toString('utf8')
    return text.trim() === '' ? undefined : { line, result: parsed(text) }
  }
  const buffer = Buffer.allocUnsafe(chunkBytes)
  while (true) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) break
    let start = 0
    for (let end = buffer.indexOf(0x0a); end !== -1 && end < bytesRead; end = buffer.indexOf(0x0a, start)) {
      const taken = take(Buffer.from(buffer.subarray(start, end)))
      start = end + 1
      if (taken !== undefined) yield taken
    }
    carriedBytes += bytesRead - start
    if (carriedBytes <= longestBytes) carried.push(Buffer.from(buffer.subarray(start, bytesRead)))
    else carried = []
  }
  const last = carriedBytes === 0 ? undefined : take(Buffer.alloc(0))
  if (last !== undefined) yield last
}

function parsed(text: string): JsonLine['result'] {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { fault: 'the line is not valid JSON' }
  }
}
