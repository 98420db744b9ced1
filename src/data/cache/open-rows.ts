// The rows of a data block, from the cache where it has them. On a hit nothing of the source is read: its identity alone is asked
// for. What is missing is made in one pass and kept under its key; what cannot be kept is streamed.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { PlacedRow, type Row, RowFormat, type RowOf } from '../../contracts/index.ts'
import { canonicalJson, EvsysError, fileWork } from '../../kernel/index.ts'
import { readJsonl } from '../files/read-jsonl.ts'
import { isRow } from '../rows/raw-row.ts'
import { fetchStored, storeFolder } from '../stores/stores.ts'
import { type CacheEntry, dropEntry, findEntry, touchEntry, writeEntry } from './cache-entry.ts'
import {
  keysOf,
  planRows,
  type RowAccount,
  type RowPlan,
  type RowRequest,
  type TypedRow,
  typedRows,
} from './typed-rows.ts'

const rowsFile = 'rows.jsonl'
const longestLine = 256 * 1024 * 1024

export interface OpenRows<F extends RowFormat> {
  /** Key of the cache; absent where the rows are not cached. */
  readonly key: string | undefined
  /** Whether the cache had them. */
  readonly isHit: boolean
  /** The rows in order. They can be asked for again. */
  rows(): AsyncIterable<TypedRow<F>>
  /** What is known of them; of rows that are not cached, once they have been read to the end. */
  manifest(): RowManifest | undefined
}

/** Opens the rows of a data block. Every fault of the data is an error here or while they are read. */
export async function openRows<F extends RowFormat>(asked: RowRequest<F>): Promise<OpenRows<F>> {
  const fetched = await fetchStored(asked.data, asked.services, storeFolder(asked.projectDir ?? process.cwd()))
  const request = { ...asked, fetched }
  const keys = await keysOf(planRows(request), request)
  const { cache } = request
  if (keys === undefined || cache === undefined) return streamed(request)
  const place = { services: request.services, dir: cache.dir }
  for (const key of [keys.unseeded, keys.seeded]) {
    const entry = await findEntry(cache.dir, key, StoredManifest)
    if (entry === undefined) continue
    await touchEntry(entry)
    return cached(entry, place, true)
  }
  return cached(await makeEntry(request, cache.dir, keys), place, false)
}

/** Rows that the cache holds under a key; undefined where it holds none. */
export async function openCachedRows(
  dir: string,
  key: string,
  services: RowRequest['services'],
): Promise<OpenRows<RowFormat> | undefined> {
  const entry = await findEntry(dir, key, StoredManifest)
  return entry === undefined ? undefined : cached(entry, { services, dir }, true)
}

/** Thrown where an entry no longer holds what its manifest says: it was removed, and can be made again. */
export function isDamaged(error: unknown): boolean {
  return EvsysError.is(error) && error.cause instanceof DamagedEntry
}

class DamagedEntry extends Error {}

async function makeEntry(
  request: RowRequest,
  root: string,
  keys: { identity: unknown; unseeded: string; seeded: string },
): Promise<CacheEntry<StoredManifest>> {
  return await writeEntry(root, StoredManifest, async (dir) => {
    const plan = planRows(request)
    const account: RowAccount = { counts: [], before: [], after: [] }
    const hash = createHash('sha256')
    let rows = 0
    await using writer = await createLineWriter(join(dir, rowsFile))
    for await (const { row, place } of typedRows(plan, request, account)) {
      hash.update(`${canonicalJson(row)}\n`)
      // As it is, and not as canonical JSON: templates may show keys in the order in which they were written.
      await writer.write(JSON.stringify({ place, row }))
      rows++
    }
    const file_sha256 = await writer.finish()
    const described = describeRows(request, plan, account, { rows, hash: hash.digest('hex'), identity: keys.identity })
    const manifest = { ...described, file_sha256 }
    return { key: plan.drew() ? keys.seeded : keys.unseeded, files: [rowsFile], manifest }
  })
}

function describeRows(
  { data, format, cache }: RowRequest,
  { source, steps, drew }: RowPlan,
  { counts, before, after }: RowAccount,
  { rows, hash, identity }: { rows: number; hash: string; identity: unknown },
): RowManifest {
  const codeHash = (plugin: Parameters<NonNullable<typeof cache>['codeHash']>[0]) => cache?.codeHash(plugin) ?? ''
  return {
    format,
    rows,
    hash,
    lineage: {
      source: {
        kind: source.plugin.kind,
        params: data.params ?? {},
        code_hash: codeHash(source.plugin),
        identity,
        rows: counts[0] ?? 0,
      },
      transforms: steps.map(({ equipped, params }, index) => ({
        kind: equipped.plugin.kind,
        params,
        code_hash: codeHash(equipped.plugin),
        rows: counts[index + 1] ?? 0,
      })),
      seed: drew() ? cache?.seed : undefined,
    },
    before,
    after,
  }
}

function cached<F extends RowFormat>(
  { key, dir, manifest: { file_sha256, ...manifest } }: CacheEntry<StoredManifest>,
  { services: { signal }, dir: root }: { services: RowRequest['services']; dir: string },
  isHit: boolean,
): OpenRows<F> {
  const damaged = async (why: string): Promise<never> => {
    await dropEntry(root, key)
    throw new EvsysError('DATA_READ', `the cache entry ${dir} was damaged and has been removed: ${why}`, {
      cause: new DamagedEntry(why),
      fix: 'start again: it is made anew.',
    })
  }
  async function* rows(): AsyncGenerator<TypedRow<F>, void, undefined> {
    const hash = createHash('sha256')
    let count = 0
    const onBytes = (bytes: Uint8Array) => void hash.update(bytes)
    const reading = { signal, maxLineBytes: longestLine, onBytes }
    const lines = readJsonl(join(dir, rowsFile), reading)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await lines.next().catch((cause: unknown) => {
          if (EvsysError.is(cause) && cause.code === 'DATA_INVALID') return undefined
          throw cause
        })
        if (next === undefined) return await damaged('a line of it cannot be read')
        if (next.done === true) break
        const { place, row } = next.value.row
        if (typeof place !== 'string' || !isRow(row)) return await damaged('a line of it is no row')
        count++
        yield { place, row: row as unknown as RowOf[F] } // written by us, from a row of this format; the hash vouches for it
      }
    } finally {
      await lines.return?.()
    }
    if (count !== manifest.rows || hash.digest('hex') !== file_sha256) {
      await damaged('its rows are not those of its manifest')
    }
  }
  return { key, isHit, rows, manifest: () => manifest }
}

function streamed<F extends RowFormat>(request: RowRequest<F>): OpenRows<F> {
  let known: RowManifest | undefined
  async function* rows(): AsyncGenerator<TypedRow<F>, void, undefined> {
    const plan = planRows(request)
    const account: RowAccount = { counts: [], before: [], after: [] }
    const hash = createHash('sha256')
    let count = 0
    for await (const each of typedRows(plan, request, account)) {
      hash.update(`${canonicalJson(each.row satisfies Row)}\n`)
      count++
      yield each
    }
    known = describeRows(request, plan, account, { rows: count, hash: hash.digest('hex'), identity: null })
  }
  return { key: undefined, isHit: false, rows, manifest: () => known }
}

// What the cache says of rows that it holds: how many, of which shape, and how they came about.
/** How rows came about: the source as it was, and every transform with the rows that it left. */
export const Lineage = z.strictObject({
  source: z.strictObject({
    kind: z.string(),
    params: z.record(z.string(), z.unknown()),
    code_hash: z.string(),
    identity: z.unknown(),
    rows: z.int().min(0),
  }),
  transforms: z.array(
    z.strictObject({
      kind: z.string(),
      params: z.record(z.string(), z.unknown()),
      code_hash: z.string(),
      rows: z.int().min(0).describe('Rows that came out of it.'),
    }),
  ),
  seed: z.int().optional().describe('Present where a transform drew from the randomness of the run.'),
})
export type Lineage = z.infer<typeof Lineage>

export const RowManifest = z.strictObject({
  format: RowFormat,
  rows: z.int().min(0),
  hash: z.string().describe('Of the rows in their order, as canonical JSON.'),
  lineage: Lineage,
  before: z.array(PlacedRow).describe('The first rows of the source.'),
  after: z.array(PlacedRow).describe('The first rows after all transforms.'),
})
export type RowManifest = z.infer<typeof RowManifest>

/** Of an entry: the hash of its file as well, since hashing bytes takes a tenth of writing every row as canonical JSON again. */
const StoredManifest = RowManifest.extend({ file_sha256: z.string() })
type StoredManifest = z.infer<typeof StoredManifest>

// A file of lines, written as they come: one buffer, however long the file grows.
const bufferedChars = 1024 * 1024

async function createLineWriter(path: string) {
  const file = await fileWork('write', path, () => open(path, 'wx'))
  const hash = createHash('sha256')
  let waiting: string[] = []
  let chars = 0
  const flush = async () => {
    const text = waiting.join('')
    waiting = []
    chars = 0
    hash.update(text)
    if (text !== '') await fileWork('write', path, () => file.appendFile(text))
  }
  return {
    async write(line: string) {
      waiting.push(line, '\n')
      chars += line.length + 1
      if (chars >= bufferedChars) await flush()
    },
    /** Writes out what is left and waits for the disk; the hash of all of it. */
    async finish() {
      await flush()
      await fileWork('write', path, () => file.sync())
      return hash.digest('hex')
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}
