// Training rows as the tokens of one model, cached. The key says what tokens follow from: the rows, the renderer and the tokenizer. Which
// tokens are trained on is no part of it: a shard holds the message of each token and whether an assistant produces it, and every
// choice of supervision is made from these.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Rendered } from '../contracts/index.ts'
import { EvsysError, fileError, hashOf, mapConcurrent, sha256 } from '../kernel/index.ts'
import { type CacheEntry, dropEntry, findEntry, touchEntry, writeEntry } from './cache/cache-entry.ts'

const ShardManifest = z.strictObject({
  rows: z.int().min(0),
  tokens: z.int().min(0),
  made_of: z.strictObject({ data: z.string(), renderer: z.string(), tokenizer: z.string() }),
  shard_rows: z.int().min(1),
  shards: z.array(z.strictObject({ file: z.string(), sha256: z.string() })),
})
type ShardManifest = z.infer<typeof ShardManifest>

export interface TokenShardsOptions {
  /** Folder of the cache. */
  readonly dir: string
  /** Hashes of the rows, of the renderer with its settings, and of the tokenizer with its template. */
  readonly madeOf: ShardManifest['made_of']
  readonly rows: number
  /** Renders the rows from `from` up to `to`. Called for several ranges at a time. */
  render(from: number, to: number): Promise<readonly Rendered[]>
  /** Ranges at a time. */
  readonly parallel: number
  /** Rows of a shard; default 2048. */
  readonly shardRows?: number | undefined
  readonly signal: AbortSignal
}

export interface TokenShards extends Disposable {
  /** Whether the cache had them. */
  readonly isHit: boolean
  readonly rows: number
  readonly tokens: number
  /** The tokens of a row. */
  at(row: number): Rendered
}

/** Opens the tokens of rows, from the cache or made now, in parallel. */
export async function openTokenShards(options: TokenShardsOptions): Promise<TokenShards> {
  const { dir, madeOf, rows } = options
  const key = hashOf({ version: 1, ...madeOf, rows })
  const known = await findEntry(dir, key, ShardManifest)
  if (known !== undefined) {
    if (await isIntact(known)) {
      await touchEntry(known)
      return opened(known, true)
    }
    await dropEntry(dir, key)
  }
  return opened(await makeEntry(options, key), false)
}

async function makeEntry(
  { dir, madeOf, rows, render, parallel, shardRows = 2048, signal }: TokenShardsOptions,
  key: string,
): Promise<CacheEntry<ShardManifest>> {
  return await writeEntry(dir, ShardManifest, async (folder) => {
    const ranges = Array.from({ length: Math.ceil(rows / shardRows) }, (_, i) => i)
    let tokens = 0
    const shards = await mapConcurrent(ranges, { limit: parallel, signal }, async (index) => {
      const from = index * shardRows
      const rendered = await render(from, Math.min(rows, from + shardRows))
      const bytes = encodeShard(rendered)
      const file = `${String(index).padStart(6, '0')}.bin`
      tokens += rendered.reduce((sum, each) => sum + each.tokens.length, 0)
      const path = join(folder, file)
      await writeFile(path, bytes, { flush: true }).catch((cause) => Promise.reject(fileError('write', path, cause)))
      return { file, sha256: sha256(bytes) }
    })
    const manifest = { rows, tokens, made_of: madeOf, shard_rows: shardRows, shards }
    return { key, files: shards.map(({ file }) => file), manifest }
  })
}

async function isIntact({ dir, manifest }: CacheEntry<ShardManifest>): Promise<boolean> {
  for (const shard of manifest.shards) {
    const path = join(dir, shard.file)
    const bytes = await readFile(path).catch((cause) => Promise.reject(fileError('read', path, cause)))
    if (sha256(bytes) !== shard.sha256) return false
  }
  return true
}

function opened({ dir, manifest }: CacheEntry<ShardManifest>, isHit: boolean): TokenShards {
  const { rows, tokens, shard_rows: shardRows } = manifest
  const files = manifest.shards.map(({ file }) => openShard(join(dir, file)))
  return {
    isHit,
    rows,
    tokens,
    at(row) {
      const shard = files[Math.floor(row / shardRows)]
      if (shard === undefined) throw new RangeError(`there is no row ${row}`)
      return shard.at(row % shardRows)
    },
    [Symbol.dispose]() {
      for (const file of files) file[Symbol.dispose]()
    },
  }
}

// Rendered conversations in one file: a head with their lengths, then one record after the other. A record is read when it is asked
// for, with one call and no parsing, so that training data need not fit into memory as tokens.
const magic = 0x53545645 // "EVTS"
const headBytes = 8
/** Token and message of a token take four bytes each, whether it was produced takes one. */
const tokenBytes = 9

/** The bytes of a shard, in the byte order of this machine, as all its readers are. */
export function encodeShard(conversations: readonly Rendered[]): Uint8Array {
  const total = conversations.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const bytes = Buffer.alloc(headBytes + conversations.length * 4 + total * tokenBytes)
  bytes.writeUInt32LE(magic, 0)
  bytes.writeUInt32LE(conversations.length, 4)
  let at = headBytes
  for (const { tokens } of conversations) at = bytes.writeUInt32LE(tokens.length, at)
  for (const { tokens, message, produced } of conversations) {
    for (const numbers of [tokens, message]) {
      bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), at)
      at += numbers.byteLength
    }
    bytes.set(produced, at)
    at += produced.length
  }
  return bytes
}

interface OpenShard extends Disposable {
  readonly count: number
  at(index: number): Rendered
}

export function openShard(path: string): OpenShard {
  const file = attempt(path, () => openSync(path, 'r'))
  try {
    const head = read(file, path, 0, headBytes)
    const count = head.readUInt32LE(4)
    const size = fstatSync(file).size
    if (head.readUInt32LE(0) !== magic || headBytes + count * 4 > size) throw damaged(path)
    const lengths = read(file, path, headBytes, count * 4)
    const starts = new Float64Array(count + 1)
    starts[0] = headBytes + count * 4
    for (let i = 0; i < count; i++) starts[i + 1] = (starts[i] ?? 0) + lengths.readUInt32LE(i * 4) * tokenBytes
    if (starts[count] !== size) throw damaged(path)
    return {
      count,
      at(index) {
        const start = starts[index]
        const end = starts[index + 1]
        if (start === undefined || end === undefined) throw new RangeError(`${path} has no record ${index}`)
        const bytes = read(file, path, start, end - start)
        const length = bytes.length / tokenBytes
        return {
          tokens: new Int32Array(bytes.buffer, bytes.byteOffset, length),
          message: new Int32Array(bytes.buffer, bytes.byteOffset + length * 4, length),
          produced: new Uint8Array(bytes.buffer, bytes.byteOffset + length * 8, length),
        }
      },
      [Symbol.dispose]: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

// Separate memory: numbers begin at a multiple of four, and the reader may keep them.
function read(file: number, path: string, position: number, size: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(size))
  let done = 0
  while (done < size) {
    const got = attempt(path, () => readSync(file, bytes, done, size - done, position + done))
    if (got === 0) throw damaged(path)
    done += got
  }
  return bytes
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

function damaged(path: string): EvsysError {
  return new EvsysError('DATA_READ', `${path} is no whole shard of tokens`, {
    fix: 'remove its folder: it is made anew at the next start.',
  })
}
