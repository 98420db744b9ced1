// Saved weights on disk. The weights are written first, under the name of their hash; the small record that names them comes
// last and in one step. So a checkpoint is there as a whole or not at all, and one whose bytes have changed since is not loaded.
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import * as tinker from '../../contracts/tinker/index.ts'
import {
  type Clock,
  EvsysError,
  fileError,
  sha256,
  sweepTemporary,
  systemCode,
  writeFileAtomic,
} from '../../kernel/index.ts'
import { RunRecord } from './run-record.ts'

const CheckpointRecord = z.object({
  version: z.literal(1),
  folder: z.enum(['weights', 'sampler_weights']),
  name: z.string(),
  created_ms: z.number(),
  size_bytes: z.int(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  expires_ms: z.number().nullable(),
  public: z.boolean(),
  user_metadata: z.record(z.string(), z.string()),
})
type CheckpointRecord = z.infer<typeof CheckpointRecord>
export type CheckpointEntry = CheckpointRecord & { readonly run: RunRecord }
type Folder = CheckpointRecord['folder']

export type SaveSpec = {
  folder: Folder
  name: string
  bytes: Uint8Array
  ttlSeconds: number | undefined
  userMetadata: Record<string, string>
}

/** Longer than any save takes. */
const longestSaveMs = 3_600_000

/** All runs and checkpoints below one folder. */
export class CheckpointStore {
  readonly #root: string
  readonly #clock: Clock
  readonly #runs = new Map<string, RunRecord>()
  readonly #entries = new Map<string, CheckpointEntry>()

  private constructor(root: string, clock: Clock) {
    this.#root = root
    this.#clock = clock
  }

  /** Reads what is there and clears away what an interrupted save left. */
  static async open(root: string, clock: Clock): Promise<CheckpointStore> {
    const store = new CheckpointStore(root, clock)
    await mkdir(root, { recursive: true }).catch((cause) => Promise.reject(fileError('make', root, cause)))
    for (const folder of await readdir(root)) await store.#readRun(join(root, folder))
    return store
  }

  get runs(): readonly RunRecord[] {
    return [...this.#runs.values()]
  }

  run(runId: string): RunRecord | undefined {
    return this.#runs.get(runId)
  }

  async addRun(run: RunRecord): Promise<void> {
    const folder = this.#folderOf(run.run_id)
    try {
      for (const kind of ['weights', 'sampler_weights']) await mkdir(join(folder, kind), { recursive: true })
    } catch (cause) {
      throw fileError('make', folder, cause)
    }
    await writeFileAtomic(join(folder, 'run.json'), JSON.stringify(run))
    this.#runs.set(run.run_id, run)
  }

  /** Checkpoints that are still to be had, newest first. */
  list(runId?: string): CheckpointEntry[] {
    return [...this.#entries.values()]
      .filter((entry) => (runId === undefined || entry.run.run_id === runId) && !this.#isOver(entry))
      .sort((a, b) => b.created_ms - a.created_ms)
  }

  find(path: tinker.TinkerPath): CheckpointEntry | undefined {
    const entry = this.#entries.get(tinker.formatTinkerPath(path))
    return entry === undefined || this.#isOver(entry) ? undefined : entry
  }

  /** Looks on the disk for what another process saved there since this one began. */
  async refresh(path: tinker.TinkerPath): Promise<void> {
    const { runId, folder, name } = path
    if (folder === 'external_weights' || this.#entries.has(tinker.formatTinkerPath(path))) return
    const place = this.#folderOf(runId)
    const run = await readRecord(join(place, 'run.json'), RunRecord)
    const record = await readRecord(join(place, folder, `${name}.json`), CheckpointRecord)
    if (run?.run_id !== runId || record?.name !== name || record.folder !== folder) return
    this.#runs.set(runId, run)
    this.#entries.set(tinker.formatTinkerPath(path), { ...record, run })
  }

  /** Writes a checkpoint; one of the same name is replaced. */
  async save(run: RunRecord, { folder, name, bytes, ttlSeconds, userMetadata }: SaveSpec): Promise<CheckpointEntry> {
    const now = this.#clock.now()
    const record: CheckpointRecord = {
      version: 1,
      folder,
      name,
      created_ms: now,
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      expires_ms: ttlSeconds === undefined ? null : now + ttlSeconds * 1000,
      public: false,
      user_metadata: userMetadata,
    }
    const place = join(this.#folderOf(run.run_id), folder)
    await writeFileAtomic(join(place, `${record.sha256}.bin`), bytes)
    const before = this.#entries.get(pathOf({ ...record, run }))
    await this.#write({ ...record, run })
    if (before !== undefined) await this.#dropBytes(before)
    return { ...record, run }
  }

  /** The weights, checked against the hash that they were saved with. */
  async read(entry: CheckpointEntry): Promise<Uint8Array> {
    const file = join(this.#folderOf(entry.run.run_id), entry.folder, `${entry.sha256}.bin`)
    let bytes: Uint8Array
    try {
      bytes = await readFile(file)
    } catch (cause) {
      throw fileError('read', file, cause)
    }
    if (sha256(bytes) === entry.sha256) return bytes
    throw new EvsysError('BACKEND_FAILED', `the file of ${pathOf(entry)} has changed since it was saved`, {
      fix: 'use another checkpoint; this one is damaged.',
    })
  }

  async update(entry: CheckpointEntry, change: { public?: boolean; expires_ms?: number | null }): Promise<void> {
    await this.#write({ ...entry, ...change })
  }

  async remove(entry: CheckpointEntry): Promise<void> {
    const file = this.#recordFile(entry)
    await rm(file, { force: true }).catch((cause) => Promise.reject(fileError('delete', file, cause)))
    this.#entries.delete(pathOf(entry))
    await this.#dropBytes(entry)
  }

  /** Deletes checkpoints whose time is up. */
  async sweep(): Promise<void> {
    for (const entry of [...this.#entries.values()]) if (this.#isOver(entry)) await this.remove(entry)
  }

  async #write(entry: CheckpointEntry): Promise<void> {
    const { run, ...record } = entry
    await writeFileAtomic(this.#recordFile(entry), JSON.stringify(record))
    this.#entries.set(pathOf(entry), entry)
  }

  // Equal weights saved twice share a file.
  async #dropBytes({ run, folder, sha256: hash }: CheckpointEntry): Promise<void> {
    const isUsed = [...this.#entries.values()].some(
      (other) => other.run.run_id === run.run_id && other.folder === folder && other.sha256 === hash,
    )
    if (!isUsed) await rm(join(this.#folderOf(run.run_id), folder, `${hash}.bin`), { force: true })
  }

  async #readRun(folder: string): Promise<void> {
    const run = await readRecord(join(folder, 'run.json'), RunRecord)
    if (run === undefined) return // its making was interrupted before anybody knew of it
    this.#runs.set(run.run_id, run)
    for (const kind of ['weights', 'sampler_weights'] as const) {
      const place = join(folder, kind)
      await sweepTemporary(place)
      await this.#readFolder(place, run)
    }
  }

  // Weights that no record names are left from an interrupted save, unless another process is saving them just now. A record
  // that cannot be read may be a newer version's.
  async #readFolder(place: string, run: RunRecord): Promise<void> {
    const files = await readdir(place)
    const used = new Set<string>()
    let isKnown = true
    for (const file of files.filter((name) => name.endsWith('.json'))) {
      const record = await readRecord(join(place, file), CheckpointRecord)
      if (record === undefined) {
        isKnown = false
        continue
      }
      this.#entries.set(pathOf({ ...record, run }), { ...record, run })
      used.add(`${record.sha256}.bin`)
    }
    if (!isKnown) return
    for (const file of files) {
      if (!file.endsWith('.bin') || used.has(file)) continue
      const { mtimeMs } = await stat(join(place, file))
      if (mtimeMs < Date.now() - longestSaveMs) await rm(join(place, file), { force: true })
    }
  }

  #folderOf(runId: string): string {
    return join(this.#root, encodeURIComponent(runId))
  }

  #recordFile({ run, folder, name }: CheckpointEntry): string {
    return join(this.#folderOf(run.run_id), folder, `${name}.json`)
  }

  #isOver({ expires_ms }: CheckpointRecord): boolean {
    return expires_ms !== null && expires_ms <= this.#clock.now()
  }
}

/** The `tinker://` path of a checkpoint. */
export function pathOf({ run, folder, name }: CheckpointEntry): string {
  return tinker.formatTinkerPath({ runId: run.run_id, folder, name })
}

async function readRecord<S extends z.ZodType>(file: string, schema: S): Promise<z.output<S> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(file, 'utf8')))
    return parsed.success ? parsed.data : undefined
  } catch (cause) {
    if (cause instanceof SyntaxError || systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR')
      return undefined
    throw fileError('read', file, cause)
  }
}
