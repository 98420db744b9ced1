// The runs and checkpoints that a trainer knows: by path, by run, and until when.
import * as tinker from '../../contracts/tinker/index.ts'
import { type Clock, sha256 } from '../../kernel/index.ts'
import {
  type CheckpointEntry,
  type CheckpointFiles,
  type CheckpointRecord,
  pathOf,
  type RunRecord,
} from './checkpoint-files.ts'

export type SaveSpec = {
  folder: CheckpointRecord['folder']
  name: string
  bytes: Uint8Array
  ttlSeconds: number | undefined
  userMetadata: Record<string, string>
}

/** Runs without checkpoints that are listed of each key. */
const mostEmpty = 200

export class CheckpointStore {
  readonly #files: CheckpointFiles
  readonly #clock: Clock
  readonly #runs = new Map<string, RunRecord>()
  readonly #entries = new Map<string, CheckpointEntry>()
  /** Runs of this process. Others may share the folder, and train what has no checkpoint yet. */
  readonly #own = new Set<string>()

  private constructor(files: CheckpointFiles, clock: Clock) {
    this.#files = files
    this.#clock = clock
  }

  /** Reads what is there. */
  static async open(files: CheckpointFiles, clock: Clock): Promise<CheckpointStore> {
    const store = new CheckpointStore(files, clock)
    const { runs, entries } = await files.readAll()
    for (const run of runs) store.#runs.set(run.run_id, run)
    for (const entry of entries) store.#entries.set(pathOf(entry), entry)
    return store
  }

  get runs(): readonly RunRecord[] {
    return [...this.#runs.values()]
  }

  run(runId: string): RunRecord | undefined {
    return this.#runs.get(runId)
  }

  async addRun(run: RunRecord): Promise<void> {
    this.#own.add(run.run_id)
    await this.#files.addRun(run)
    this.#runs.set(run.run_id, run)
  }

  /** Checkpoints that have not expired, newest first. */
  list(runId?: string): CheckpointEntry[] {
    return [...this.#entries.values()]
      .filter((entry) => (runId === undefined || entry.run.run_id === runId) && !this.#isExpired(entry))
      .sort((a, b) => b.created_ms - a.created_ms)
  }

  /** What is kept of a tenant, expired or not. */
  heldBy(tenant: string | undefined): { count: number; sizeBytes: number } {
    const held = [...this.#entries.values()].filter(({ run }) => run.tenant === tenant)
    return { count: held.length, sizeBytes: held.reduce((sum, { size_bytes }) => sum + size_bytes, 0) }
  }

  find(path: tinker.TinkerPath): CheckpointEntry | undefined {
    const entry = this.#entries.get(tinker.formatTinkerPath(path))
    return entry === undefined || this.#isExpired(entry) ? undefined : entry
  }

  /** Takes in a checkpoint that another process saved since this one began. */
  async refresh(path: tinker.TinkerPath): Promise<void> {
    if (path.folder === 'external_weights' || this.#entries.has(tinker.formatTinkerPath(path))) return
    const entry = await this.#files.find(path)
    if (entry === undefined) return
    this.#runs.set(entry.run.run_id, entry.run)
    this.#entries.set(pathOf(entry), entry)
  }

  /** Writes a checkpoint; one of the same name is replaced. */
  async save(run: RunRecord, { folder, name, bytes, ttlSeconds, userMetadata }: SaveSpec): Promise<CheckpointEntry> {
    const now = this.#clock.now()
    const entry: CheckpointEntry = {
      version: 1,
      folder,
      name,
      created_ms: now,
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      expires_ms: ttlSeconds === undefined ? null : now + ttlSeconds * 1000,
      public: false,
      user_metadata: userMetadata,
      run,
    }
    const before = this.#entries.get(pathOf(entry))
    await this.#files.save(entry, bytes)
    this.#entries.set(pathOf(entry), entry)
    if (before !== undefined) await this.#dropBytes(before)
    return entry
  }

  /** The weights, as they were saved. */
  read(entry: CheckpointEntry): Promise<Uint8Array> {
    return this.#files.read(entry)
  }

  async update(entry: CheckpointEntry, change: { public?: boolean; expires_ms?: number | null }): Promise<void> {
    const changed = { ...entry, ...change }
    await this.#files.update(changed)
    this.#entries.set(pathOf(changed), changed)
  }

  async remove(entry: CheckpointEntry): Promise<void> {
    await this.#files.remove(entry)
    this.#entries.delete(pathOf(entry))
    await this.#dropBytes(entry)
  }

  /** Deletes checkpoints that have expired, and forgets the oldest runs of each key that saved nothing and are over. */
  async sweep(isLoaded: (run: RunRecord) => boolean): Promise<void> {
    for (const entry of [...this.#entries.values()]) if (this.#isExpired(entry)) await this.remove(entry)
    const saved = new Set([...this.#entries.values()].map(({ run }) => run.run_id))
    const empty = this.runs.filter((run) => this.#own.has(run.run_id) && !saved.has(run.run_id) && !isLoaded(run))
    const counts = new Map<string | undefined, number>()
    for (const run of empty.sort((a, b) => b.created_ms - a.created_ms)) {
      const count = (counts.get(run.tenant) ?? 0) + 1
      counts.set(run.tenant, count)
      if (count <= mostEmpty) continue
      await this.#files.removeRun(run)
      this.#runs.delete(run.run_id)
      this.#own.delete(run.run_id)
    }
  }

  // Equal weights saved twice share a file.
  async #dropBytes(entry: CheckpointEntry): Promise<void> {
    const fileOf = ({ run, folder, sha256: hash }: CheckpointEntry) => `${run.run_id}/${folder}/${hash}`
    const isUsed = [...this.#entries.values()].some((other) => fileOf(other) === fileOf(entry))
    if (!isUsed) await this.#files.removeBytes(entry)
  }

  #isExpired({ expires_ms }: CheckpointRecord): boolean {
    return expires_ms !== null && expires_ms <= this.#clock.now()
  }
}
