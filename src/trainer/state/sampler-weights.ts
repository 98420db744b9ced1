// Weights that samples are drawn from, in the engine. The ones used last stay loaded. Requests may overlap: the engine carries
// operations out in their order, so what one request has asked for comes before what another drops later.
import type { Engine, Sample, SampleReq } from '../../contracts/index.ts'

/** Where weights come from. Equal keys are equal weights. */
export type WeightSource = { readonly key: string } & (
  | { readonly baseModel: string }
  | {
      readonly read: () => Promise<Uint8Array>
      /** Absent: they are kept for others too. */
      readonly remove?: () => Promise<void>
    }
)

export class SamplerWeights {
  readonly #engine: Engine
  readonly #mostLoaded: number
  /** In the order of their last use. */
  readonly #loaded = new Set<string>()
  readonly #loading = new Map<string, Promise<void>>()

  constructor(engine: Engine, mostLoaded: number) {
    this.#engine = engine
    this.#mostLoaded = mostLoaded
  }

  async sample(
    source: WeightSource,
    request: Omit<SampleReq, 'model'>,
    signal: AbortSignal,
    /** Nobody waits for these samples any more; weights that others wait for as well are loaded all the same. */
    cancelled = signal,
  ): Promise<readonly Sample[]> {
    const model = `sampler ${source.key}`
    while (!this.#loaded.has(model)) await this.#loadOnce(model, source, signal)
    this.#loaded.delete(model)
    this.#loaded.add(model)
    const result = await this.#engine.run({ op: 'sample', model, request }, cancelled)
    if ('samples' in result) return result.samples
    throw new TypeError('the engine answered a sample request with something else')
  }

  /** The engine has lost everything. */
  forget(): void {
    this.#loaded.clear()
  }

  async #loadOnce(model: string, source: WeightSource, signal: AbortSignal): Promise<void> {
    const loading =
      this.#loading.get(model) ??
      this.#load(model, source, signal).finally(() => {
        this.#loading.delete(model)
      })
    this.#loading.set(model, loading)
    await loading
  }

  async #load(model: string, source: WeightSource, signal: AbortSignal): Promise<void> {
    const [oldest] = this.#loaded
    if (this.#loaded.size + this.#loading.size >= this.#mostLoaded && oldest !== undefined) {
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
