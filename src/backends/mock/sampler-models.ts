// The models that samples are drawn from: saved weights and base models, loaded into the engine when first asked for.
import type { Engine, Sample, SampleReq, SamplerRef, Weights } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { readCheckpoint } from './checkpoint-files.ts'

/** Weights that stay loaded. An on-policy run uses each of them for one step only. */
const mostLoaded = 8

export class SamplerModels {
  readonly #engine: Engine
  readonly #signal: AbortSignal
  readonly #snapshots = new Map<string, Uint8Array>()
  #taken = 0
  /** Engine models in the order of their last use. */
  readonly #loaded = new Map<string, Promise<unknown>>()

  constructor(engine: Engine, signal: AbortSignal) {
    this.#engine = engine
    this.#signal = signal
  }

  /** Keeps weights until they are forgotten, or for as long as this lives. */
  addSnapshot(bytes: Uint8Array): SamplerRef {
    const uri = `mock://snapshot/${this.#taken}`
    this.#taken += 1
    this.#snapshots.set(uri, bytes)
    return { kind: 'sampler', uri }
  }

  /** Lets go of a snapshot. False: it is none. */
  forget(uri: string): boolean {
    if (!uri.startsWith('mock://snapshot/')) return false
    this.#snapshots.delete(uri)
    this.#unload(uri)
    return true
  }

  async sample({ model: weights, ...request }: SampleReq): Promise<Sample[]> {
    const id = 'uri' in weights ? weights.uri : `base:${weights.baseModel}`
    const bytes = this.#loaded.has(id) || !('uri' in weights) ? undefined : await this.#bytesOf(weights)
    // From here to the sample nothing is awaited: the engine works in order, so no eviction comes in between.
    const ready = this.#loaded.get(id) ?? this.#load(id, weights, bytes)
    this.#touch(id, ready)
    const drawn = this.#engine.run({ op: 'sample', model: id, request }, this.#signal)
    drawn.catch(() => {}) // a failed load is the failure to tell
    await ready
    const result = await drawn
    if ('samples' in result) return [...result.samples]
    throw new TypeError('the engine answered a sample request with something else')
  }

  #load(id: string, weights: Weights, bytes: Uint8Array | undefined): Promise<unknown> {
    const op =
      'uri' in weights
        ? ({ op: 'import', model: id, bytes: bytes ?? new Uint8Array(), optimizer: false } as const)
        : ({ op: 'create', model: id, baseModel: weights.baseModel } as const)
    const ready = this.#engine.run(op, this.#signal)
    ready.catch(() => this.#loaded.delete(id))
    return ready
  }

  #touch(id: string, ready: Promise<unknown>): void {
    this.#loaded.delete(id)
    this.#loaded.set(id, ready)
    const [oldest] = this.#loaded.keys()
    if (this.#loaded.size > mostLoaded && oldest !== undefined) this.#unload(oldest)
  }

  #unload(id: string): void {
    if (!this.#loaded.delete(id)) return
    this.#engine.run({ op: 'unload', model: id }, this.#signal).catch(() => {}) // aborted: everything is unloaded
  }

  async #bytesOf(ref: SamplerRef): Promise<Uint8Array> {
    if (ref.kind !== 'sampler') {
      throw new EvsysError('BACKEND_FAILED', `mock backend: ${ref.uri} is not saved for sampling`, {
        fix: 'save a `sampler` checkpoint and sample from that.',
      })
    }
    return this.#snapshots.get(ref.uri) ?? (await readCheckpoint(ref))
  }
}
