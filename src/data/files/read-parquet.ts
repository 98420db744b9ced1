// A Parquet file as a stream of rows, one row group in memory at a time. Values become JSON: whole numbers that JSON cannot carry
// exactly are text, times are ISO 8601 text, bytes are base64 text.
import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Row } from '../../contracts/index.ts'
import { EvsysError, messageOf, unpackZstd } from '../../kernel/index.ts'
import { failsToRead, fileStats } from './read-error.ts'

/** Uncompressed bytes of a row group: it is held as a whole. */
const largestGroupBytes = 2 * 1024 ** 3

/** The rows of a Parquet file with their places: `data/train.parquet[3]`. */
export async function* readParquet(
  path: string,
  { name = path, signal }: { name?: string | undefined; signal: AbortSignal },
): AsyncGenerator<{ row: Row; place: string }, void, undefined> {
  const { size } = await fileStats(path, name)
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet')
  await using handle = await open(path, 'r').catch(failsToRead(name))
  const file = { byteLength: size, slice: (start: number, end = size) => slice(handle, start, end, name) }
  const metadata = await reading(name, signal, () => parquetMetadataAsync(file))
  const compressors = decompressors()
  let rowStart = 0
  for (const [index, { num_rows, total_byte_size }] of metadata.row_groups.entries()) {
    signal.throwIfAborted()
    if (total_byte_size > BigInt(largestGroupBytes)) {
      const message = `${name}: row group ${index} takes ${total_byte_size} bytes, too much to hold`
      throw new EvsysError('DATA_READ', message, { fix: 'write the file with smaller row groups.' })
    }
    const rowEnd = rowStart + Number(num_rows)
    const from = rowStart
    const rows = await reading(name, signal, () =>
      parquetReadObjects({ file, metadata, compressors, rowStart: from, rowEnd, geoparquet: false }),
    )
    for (const [offset, row] of rows.entries()) {
      signal.throwIfAborted()
      yield { row: jsonRow(row), place: `${name}[${from + offset}]` }
    }
    rowStart = rowEnd
  }
}

async function slice(handle: FileHandle, start: number, end: number, name: string): Promise<ArrayBuffer> {
  const buffer = new ArrayBuffer(Math.max(0, end - start))
  const view = new Uint8Array(buffer)
  let done = 0
  while (done < view.length) {
    const { bytesRead } = await handle.read(view, done, view.length - done, start + done).catch(failsToRead(name))
    if (bytesRead === 0) throw new RangeError('it ends in the middle')
    done += bytesRead
  }
  return buffer
}

// Snappy, the usual one, is part of the reader.
function decompressors() {
  const limit = (maxOutputLength: number) => ({ maxOutputLength: Math.max(1, maxOutputLength) })
  return {
    GZIP: (input: Uint8Array, length: number) => new Uint8Array(gunzipSync(input, limit(length))),
    BROTLI: (input: Uint8Array, length: number) => new Uint8Array(brotliDecompressSync(input, limit(length))),
    ZSTD: (input: Uint8Array, length: number) => unpackZstd(input, length),
  }
}

// Whatever the reader stumbles over is a fault of the file.
async function reading<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (signal.aborted || EvsysError.is(cause)) throw cause
    throw new EvsysError('DATA_INVALID', `${name} cannot be read as Parquet: ${messageOf(cause)}`, {
      cause,
      fix: 'write the file again, compressed with snappy, gzip, brotli, zstd or not at all.',
    })
  }
}

function jsonRow(row: Record<string, unknown>): Row {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, jsonValue(value)]))
}

function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const isExact = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    return isExact ? Number(value) : `${value}`
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value === undefined || value === null) return null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (ArrayBuffer.isView(value) && !Array.isArray(value)) {
    return value instanceof Uint8Array
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
      : Array.from(value as unknown as ArrayLike<unknown>, jsonValue) // a typed array of numbers
  }
  if (Array.isArray(value)) return value.map(jsonValue)
  return typeof value === 'object' ? jsonRow({ ...value }) : value
}
