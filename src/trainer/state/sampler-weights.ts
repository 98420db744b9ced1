// Weights that samples are drawn from, in the engine. The ones used last stay loaded. Requests may overlap: the engine carries
// operations out in their order, so what one request has asked for comes before what another drops later.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine, Sample, SampleReq } from '../../contracts/index.ts'
import { fileError, sweepTemporaryFolders, temporaryFolder } from '../../kernel/index.ts'

/** Where weights come from. Equal keys are equal weights. */
export type WeightSource = { readonly key: string } & (
  | { readonly baseModel: string }
  | {
      readonly read: () => Promise<Uint8Array>
      /** Absent: they are kept for others too. */
      readonly remove?: (() => Promise<void>) | undefined
    }
)

export class SamplerWeights {
  readonly #engine: Engine
  readonly #mostLoaded: number
  /** In the order of their last use. */
  readonly #loaded = new Set<string>()
  readonly #loading = new Map<string, Promise<void>>()
  /** Requests that are being answered, by weights. */
  readonly #drawing = new Map<string, number>()

  constructor(engine: Engine, mostLoaded: number) {
    this.#engine = engine
    this.#mostLoaded = mostLoaded
  }

  async sample(
    source: WeightSource,
    request: Omit<SampleReq, 'model'>,
    signal: AbortSignal,
    /** Aborted when no client waits for these samples; weights that others wait for as well are loaded all the same. */
    cancelled = signal,
  ): Promise<readonly Sample[]> {
    const model = `sampler ${source.key}`
    while (!this.#loaded.has(model)) await this.#loadOnce(model, source, signal)
    this.#loaded.delete(model)
    this.#loaded.add(model)
    this.#drawing.set(model, (this.#drawing.get(model) ?? 0) + 1)
    try {
      const result = await this.#engine.run({ op: 'sample', model, request }, cancelled)
      if ('samples' in result) return result.samples
    } finally {
      const others = (this.#drawing.get(model) ?? 1) - 1
      if (others === 0) this.#drawing.delete(model)
      else this.#drawing.set(model, others)
    }
    throw new TypeError('the engine answered a sample request with something else')
  }

  /** The engine has lost everything. */
  forget(): void {
    this.#loaded.clear()
  }

  async #loadOnce(model: string, source: WeightSource, signal: AbortSignal): Promise<void> {
    const load = () => this.#load(model, source, signal).finally(() => this.#loading.delete(model))
    const loading = this.#loading.get(model) ?? load()
    this.#loading.set(model, loading)
    await loading
  }

  async #load(model: string, source: WeightSource, signal: AbortSignal): Promise<void> {
    // Those in use stay, beyond the limit too: who loads others does not wait for the answers that are drawn from them.
    for (const oldest of [...this.#loaded].filter((each) => !this.#drawing.has(each))) {
      const others = this.#loaded.size + this.#loading.size - (this.#loading.has(model) ? 1 : 0)
      if (others < this.#mostLoaded) break
      this.#loaded.delete(oldest)
      await this.#engine.run({ op: 'unload', model: oldest }, signal)
    }
    await this.#engine.run(
      'read' in source
        ? { op: 'import', model, bytes: await source.read(), optimizer: false }
        : { op: 'create', model, baseModel: source.baseModel },
      signal,
    )
    this.#loaded.add(model)
  }
}

// Weights that live as long as their session: a run may make thousands of them, so a trainer with a folder keeps them there.
export class EphemeralWeights {
  readonly #parent: string | undefined
  #folder: string | undefined

  /** In a folder of this process below `parent`, made when it is needed; those that killed processes left are deleted. Absent: in memory. */
  constructor(parent: string | undefined) {
    this.#parent = parent
    if (parent !== undefined) sweepTemporaryFolders(parent)
  }

  /** Keeps weights; returns how they are read again, and removed. */
  async add(sessionId: string, bytes: Uint8Array): Promise<{ read(): Promise<Uint8Array>; remove(): Promise<void> }> {
    const parent = this.#parent
    if (parent === undefined) return { read: async () => bytes, remove: async () => {} }
    const name = randomUUID()
    let file = join(parent, name)
    try {
      await mkdir(parent, { recursive: true })
      this.#folder ??= temporaryFolder('live', parent)
      const folder = join(this.#folder, sessionId)
      file = join(folder, name)
      await mkdir(folder, { recursive: true })
      await writeFile(file, bytes)
    } catch (cause) {
      throw fileError('write', file, cause)
    }
    return {
      read: () => readFile(file).catch((cause) => Promise.reject(fileError('read', file, cause))),
      remove: () => rm(file, { force: true }),
    }
  }

  async removeSession(sessionId: string): Promise<void> {
    if (this.#folder !== undefined) await rm(join(this.#folder, sessionId), { recursive: true, force: true })
  }

  async close(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
  }
}
