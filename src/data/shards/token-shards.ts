// Training rows as the tokens of one model, cached. The key says what tokens follow from: the rows, the renderer and the tokenizer. Which
// tokens are trained on is no part of it: a shard holds the message of each token and whether an assistant produces it, and every
// choice of supervision is made from these.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Rendered } from '../../contracts/index.ts'
import { fileError, hashOf, mapConcurrent } from '../../kernel/index.ts'
import { type CacheEntry, dropEntry, findEntry, touchEntry, writeEntry } from '../cache/cache-entry.ts'
import { encodeShard, openShard } from './shard-file.ts'

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
  readonly shardRows?: number
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
      await writeFile(join(folder, file), bytes, { flush: true }).catch((cause: unknown) => {
        throw fileError('write', join(folder, file), cause)
      })
      return { file, sha256: createHash('sha256').update(bytes).digest('hex') }
    })
    const manifest = { rows, tokens, made_of: madeOf, shard_rows: shardRows, shards }
    return { key, files: shards.map(({ file }) => file), manifest }
  })
}

async function isIntact({ dir, manifest }: CacheEntry<ShardManifest>): Promise<boolean> {
  for (const { file, sha256 } of manifest.shards) {
    const bytes = await readFile(join(dir, file)).catch((cause: unknown) => {
      throw fileError('read', join(dir, file), cause)
    })
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) return false
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
