// Where checkpoints are kept, and the usual place: a folder that several trainers may share. The weights are written first, under
// the name of their hash; the small record that names them comes last and in one step. So a checkpoint is there as a whole or
// not at all, and one whose bytes have changed since is not loaded.
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import * as tinker from '../../contracts/tinker/index.ts'
import { EvsysError, fileError, sha256, sweepTemporary, systemCode, writeFileAtomic } from '../../kernel/index.ts'

/** What a date can hold. A record with anything else is shown all the same. */
const Moment = z.number().min(0).max(8.64e15)

/** What is known of a training run after the process that held its weights. */
export const RunRecord = z.object({
  version: z.literal(1),
  /** The id of the model in training. */
  run_id: z.string(),
  session_id: z.string(),
  base_model: z.string(),
  engine_id: z.string(),
  created_ms: Moment.catch(0),
  /** Absent: all weights are trained. */
  lora: z
    .object({
      rank: z.int(),
      seed: z.number(),
      train_unembed: z.boolean(),
      train_mlp: z.boolean(),
      train_attn: z.boolean(),
    })
    .optional(),
  user_metadata: z.record(z.string(), z.string()),
  /** Absent: it belongs to the owner of the trainer. */
  tenant: z.string().optional(),
})
export type RunRecord = z.infer<typeof RunRecord>

const CheckpointRecord = z.object({
  version: z.literal(1),
  folder: z.enum(['weights', 'sampler_weights']),
  name: z.string(),
  created_ms: Moment.catch(0),
  size_bytes: z.int(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  expires_ms: Moment.nullable().catch(null),
  public: z.boolean(),
  user_metadata: z.record(z.string(), z.string()),
})
export type CheckpointRecord = z.infer<typeof CheckpointRecord>
export type CheckpointEntry = CheckpointRecord & { readonly run: RunRecord }

/** The `tinker://` path of a checkpoint. */
export function pathOf({ run, folder, name }: CheckpointEntry): string {
  return tinker.formatTinkerPath({ runId: run.run_id, folder, name })
}

/** Where a trainer keeps its checkpoints. */
export interface CheckpointFiles {
  /** All runs and checkpoints that are there when the trainer opens. */
  readAll(): Promise<{ runs: RunRecord[]; entries: CheckpointEntry[] }>
  /** One that was saved there since, by another process. */
  find(path: tinker.TinkerPath): Promise<CheckpointEntry | undefined>
  addRun(run: RunRecord): Promise<void>
  /** Writes the weights and what is known of them; what had the same name is replaced. */
  save(entry: CheckpointEntry, bytes: Uint8Array): Promise<void>
  /** Writes what is known of a checkpoint. */
  update(entry: CheckpointEntry): Promise<void>
  /** The weights, as they were saved. */
  read(entry: CheckpointEntry): Promise<Uint8Array>
  remove(entry: CheckpointEntry): Promise<void>
  /** Deletes weights that no checkpoint names any more. */
  removeBytes(entry: CheckpointEntry): Promise<void>
  /** Forgets a run of this process that has no checkpoints. */
  removeRun(run: RunRecord): Promise<void>
}

/** Longer than any save takes. */
const longestSaveMs = 3_600_000

/** All runs and checkpoints below one folder. */
export class CheckpointFolder implements CheckpointFiles {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** Also clears away what an interrupted save left. */
  async readAll(): Promise<{ runs: RunRecord[]; entries: CheckpointEntry[] }> {
    const found: { runs: RunRecord[]; entries: CheckpointEntry[] } = { runs: [], entries: [] }
    await mkdir(this.#root, { recursive: true }).catch((cause) => Promise.reject(fileError('make', this.#root, cause)))
    for (const name of await readdir(this.#root)) {
      const folder = join(this.#root, name)
      const run = await readRecord(join(folder, 'run.json'), RunRecord)
      if (run === undefined) continue // interrupted while it was made: no client knows its id
      found.runs.push(run)
      for (const kind of ['weights', 'sampler_weights'] as const) {
        const place = join(folder, kind)
        await sweepTemporary(place)
        found.entries.push(...(await readFolder(place, run)))
      }
    }
    return found
  }

  async find({ runId, folder, name }: tinker.TinkerPath): Promise<CheckpointEntry | undefined> {
    const place = this.#folderOf(runId)
    const run = await readRecord(join(place, 'run.json'), RunRecord)
    const record = await readRecord(join(place, folder, `${name}.json`), CheckpointRecord)
    if (run?.run_id !== runId || record?.name !== name || record.folder !== folder) return undefined
    return { ...record, run }
  }

  async addRun(run: RunRecord): Promise<void> {
    const folder = this.#folderOf(run.run_id)
    try {
      for (const kind of ['weights', 'sampler_weights']) await mkdir(join(folder, kind), { recursive: true })
    } catch (cause) {
      throw fileError('make', folder, cause)
    }
    await writeFileAtomic(join(folder, 'run.json'), JSON.stringify(run))
  }

  async save(entry: CheckpointEntry, bytes: Uint8Array): Promise<void> {
    await writeFileAtomic(this.#bytesFile(entry), bytes)
    await this.update(entry)
  }

  async update(entry: CheckpointEntry): Promise<void> {
    const { run, ...record } = entry
    await writeFileAtomic(this.#recordFile(entry), JSON.stringify(record))
  }

  async read(entry: CheckpointEntry): Promise<Uint8Array> {
    const file = this.#bytesFile(entry)
    const bytes = await readFile(file).catch((cause) => Promise.reject(fileError('read', file, cause)))
    if (sha256(bytes) === entry.sha256) return bytes
    throw new EvsysError('BACKEND_FAILED', `the file of ${pathOf(entry)} has changed since it was saved`, {
      fix: 'use another checkpoint; this one is damaged.',
    })
  }

  async remove(entry: CheckpointEntry): Promise<void> {
    const file = this.#recordFile(entry)
    await rm(file, { force: true }).catch((cause) => Promise.reject(fileError('delete', file, cause)))
  }

  async removeBytes(entry: CheckpointEntry): Promise<void> {
    await rm(this.#bytesFile(entry), { force: true })
  }

  async removeRun({ run_id }: RunRecord): Promise<void> {
    const folder = this.#folderOf(run_id)
    await rm(folder, { recursive: true, force: true }).catch((cause) =>
      Promise.reject(fileError('delete', folder, cause)),
    )
  }

  #folderOf(runId: string): string {
    return join(this.#root, encodeURIComponent(runId))
  }

  #recordFile({ run, folder, name }: CheckpointEntry): string {
    return join(this.#folderOf(run.run_id), folder, `${name}.json`)
  }

  #bytesFile({ run, folder, sha256: hash }: CheckpointEntry): string {
    return join(this.#folderOf(run.run_id), folder, `${hash}.bin`)
  }
}

// Weights that no record names were written by an interrupted save, unless another process is saving them just now. A record
// that cannot be read may be a newer version's.
async function readFolder(place: string, run: RunRecord): Promise<CheckpointEntry[]> {
  const files = await readdir(place)
  const entries: CheckpointEntry[] = []
  let isKnown = true
  for (const file of files.filter((name) => name.endsWith('.json'))) {
    const record = await readRecord(join(place, file), CheckpointRecord)
    if (record === undefined) isKnown = false
    else entries.push({ ...record, run })
  }
  if (!isKnown) return entries
  const used = new Set(entries.map((entry) => `${entry.sha256}.bin`))
  for (const file of files) {
    if (!file.endsWith('.bin') || used.has(file)) continue
    const { mtimeMs } = await stat(join(place, file))
    if (mtimeMs < Date.now() - longestSaveMs) await rm(join(place, file), { force: true })
  }
  return entries
}

const absent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

async function readRecord<S extends z.ZodType>(file: string, schema: S): Promise<z.output<S> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(file, 'utf8')))
    return parsed.success ? parsed.data : undefined
  } catch (cause) {
    if (cause instanceof SyntaxError || absent.includes(systemCode(cause) ?? '')) return undefined
    throw fileError('read', file, cause)
  }
}
