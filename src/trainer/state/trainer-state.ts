// Everything a trainer holds, and how work becomes a promise: queued, carried out by the engine, settled.
import { join } from 'node:path'
import type { Engine, EngineOp, EngineResult } from '../../contracts/index.ts'
import type { TinkerPath } from '../../contracts/tinker/index.ts'
import { engineIdText } from '../../engine/index.ts'
import { type Clock, EvsysError, systemClock } from '../../kernel/index.ts'
import { HttpError, isHidden, notFound, publicWords, wordsOf } from '../http/http-error.ts'
import { BodyRoom } from './body-room.ts'
import { type CheckpointEntry, type CheckpointFiles, CheckpointFolder, type RunRecord } from './checkpoint-files.ts'
import { CheckpointStore } from './checkpoint-store.ts'
import { FairQueue } from './fair-queue.ts'
import { type Answer, Completions, type Failure, type Future, Futures } from './futures.ts'
import { EphemeralWeights, SamplerWeights, type WeightSource } from './sampler-weights.ts'
import type { SequenceGate } from './sequence-gate.ts'
import type { ModelCatalog, ServedModel } from './served-model.ts'
import { type Session, Sessions } from './sessions.ts'

export type TrainerOptions = {
  /** Where checkpoints, snapshots and what is known of sessions live. Absent: nothing but `checkpoints` outlives the trainer. */
  dir?: string | undefined
  /** Default: below `dir`. */
  checkpoints?: CheckpointFiles | undefined
  engine: Engine & { onLost?: ((listener: (error: EvsysError) => void) => void) | undefined }
  models: ModelCatalog
  /** Other names of sampler checkpoints: `tinker://` paths by name. */
  aliases?: Readonly<Record<string, string>> | undefined
  clock?: Clock | undefined
  limits?: Partial<TrainerLimits> | undefined
  /** Hears of faults of this side, whose details clients do not learn. */
  onFault?: ((error: unknown) => void) | undefined
}

/** Weights that a client samples from, under the id that it knows. */
export interface Sampler {
  readonly id: string
  readonly sessionId: string
  readonly base: ServedModel
  readonly modelPath: string | undefined
  readonly source: WeightSource
  /** Hash of the request that made it. */
  readonly hash: string
  /** Requests by number: what they held and the promise they got. */
  readonly requests: Map<number, { readonly hash: string; readonly requestId: string }>
  /** Copies of the client that have asked for a number range; the original is 0. */
  copies: number
}

type ResultKey = EngineResult extends infer R ? (R extends unknown ? keyof R : never) : never
type ResultOf<K extends ResultKey> = Extract<EngineResult, Readonly<Record<K, unknown>>>[K]

export class TrainerState {
  readonly limits: TrainerLimits
  readonly clock: Clock
  readonly engine: Engine
  readonly catalog: ModelCatalog
  readonly aliases: ReadonlyMap<string, string>
  readonly sessions: Sessions
  readonly checkpoints: CheckpointStore
  readonly ephemeral: EphemeralWeights
  readonly queue = new FairQueue()
  readonly bodies: BodyRoom
  readonly futures: Futures
  readonly completions = new Completions()
  readonly models = new Map<string, TrainedModel>()
  readonly samplers = new Map<string, Sampler>()
  readonly samplerWeights: SamplerWeights
  readonly onFault: (error: unknown) => void
  readonly #closing = new AbortController()

  private constructor(
    options: TrainerOptions,
    parts: { sessions: Sessions; checkpoints: CheckpointStore; ephemeral: EphemeralWeights; clock: Clock },
  ) {
    this.limits = { ...defaultLimits, ...options.limits }
    const { onFault = () => {} } = options
    this.onFault = (error) => void (isHidden(error) && onFault(error))
    this.clock = parts.clock
    this.engine = options.engine
    this.catalog = options.models
    this.aliases = new Map(Object.entries(options.aliases ?? {}))
    this.sessions = parts.sessions
    this.checkpoints = parts.checkpoints
    this.ephemeral = parts.ephemeral
    this.samplerWeights = new SamplerWeights(options.engine, this.limits.samplersLoaded)
    const { keepMs, keepBytes, readMs, abandonMs, requestBytes } = this.limits
    this.bodies = new BodyRoom(requestBytes)
    const onSettled = (future: Future) => this.completions.add(future)
    this.futures = new Futures({ queue: this.queue, keepMs, keepBytes, readMs, abandonMs, onSettled })
    options.engine.onLost?.((error) => {
      for (const model of this.models.values()) model.lost = wordsOf(error)
      this.samplerWeights.forget()
    })
  }

  static async open(options: TrainerOptions): Promise<TrainerState> {
    const { dir, clock = systemClock } = options
    const below = (name: string) => (dir === undefined ? undefined : join(dir, name))
    const files = options.checkpoints ?? (dir === undefined ? undefined : new CheckpointFolder(join(dir, 'runs')))
    if (files === undefined) throw new TypeError('a trainer needs a folder, or a place for its checkpoints')
    const checkpoints = await CheckpointStore.open(files, clock)
    const sessions = await Sessions.open(below('sessions'), clock)
    const ephemeral = new EphemeralWeights(below('ephemeral'))
    const state = new TrainerState(options, { sessions, checkpoints, ephemeral, clock })
    void state.#watch()
    return state
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  get engineId(): string {
    return engineIdText(this.engine.id)
  }

  /** A checkpoint that is served under another name, for every key. */
  async served(path: TinkerPath): Promise<CheckpointEntry> {
    await this.checkpoints.refresh(path)
    const entry = this.checkpoints.find(path)
    if (entry === undefined) throw notFound('the weights that were served under this name are gone')
    return entry
  }

  async base(name: string): Promise<ServedModel> {
    const base = await this.catalog.find(name)
    if (base !== undefined) return base
    const known = [...this.aliases.keys(), ...(await this.catalog.list()).map((each) => each.name)]
    throw new HttpError(400, `no base model is called ${JSON.stringify(name)}; served here: ${known.join(', ')}`)
  }

  /** Queues work whose result settles a promise. */
  enqueue(lane: string, future: Future, work: () => Promise<Answer>, options: { shared?: boolean } = {}): void {
    const job = async () => {
      try {
        this.signal.throwIfAborted()
        this.futures.settle(future, { answer: await work() })
      } catch (error) {
        if (future.outcome === undefined) this.onFault(error) // else it was cancelled
        this.futures.settle(future, { failure: failureOf(error) })
      }
      future.job = undefined // it holds the request's data, and the result is kept for long
    }
    future.job = this.queue.add({ tenant: future.tenant, lane }, job, options)
  }

  /** Runs an operation and takes the part of the result that it must have. */
  async run<K extends ResultKey>(op: EngineOp, key: K): Promise<ResultOf<K>> {
    // What was queued before the engine ended is not for the next one, which does not know the model.
    const lost = this.models.get(op.model)?.lost
    if (lost !== undefined) throw new EvsysError('BACKEND_FAILED', lost)
    const result = await this.engine.run(op, this.signal)
    if (key in result) return Reflect.get(result, key) as ResultOf<K> // the key selects the member of the union
    throw new TypeError(`the engine answered ${op.op} without ${key}`)
  }

  /** Forgets a sampler, and the weights that only it had. What the engine has of them goes when others need the room. */
  async removeSampler({ id, sessionId, source }: Sampler): Promise<void> {
    this.samplers.delete(id)
    this.sessions.find(sessionId)?.samplerIds.delete(id)
    this.completions.remove(id)
    if ('remove' in source) await source.remove?.()
  }

  /** Unloads all that a session holds. */
  async endSession(session: Session): Promise<void> {
    const ended = this.sessions.end(session)
    this.futures.endSession(session.id)
    for (const id of session.modelIds) this.unload(id)
    for (const id of session.samplerIds) {
      this.samplers.delete(id)
      this.completions.remove(id)
    }
    await Promise.all([ended, this.ephemeral.removeSession(session.id)])
  }

  unload(modelId: string): void {
    const model = this.models.get(modelId)
    if (model === undefined) return
    this.models.delete(modelId)
    this.queue.add({ tenant: model.run.tenant, lane: modelId }, async () => {
      await this.engine.run({ op: 'unload', model: modelId }, this.signal).catch(() => {}) // gone either way
    })
  }

  async close(): Promise<void> {
    this.#closing.abort(new EvsysError('INTERRUPTED', 'the trainer is closing'))
    await this.ephemeral.close()
  }

  // Silent sessions end, old results and checkpoints go.
  async #watch(): Promise<void> {
    const everyMs = Math.min(15_000, this.limits.sessionMs / 4)
    while (!this.signal.aborted) {
      try {
        await this.clock.sleep(everyMs, this.signal)
        const silent = this.sessions.pass(everyMs, this.limits.sessionMs)
        for (const session of silent) await this.endSession(session)
        this.futures.pass(everyMs)
        await this.checkpoints.sweep((run) => this.models.has(run.run_id))
      } catch {
        // A disk that fails to delete is tried again next time.
      }
    }
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof HttpError) return { error: error.message, category: error.status < 500 ? 'user' : 'server' }
  const isUser = EvsysError.is(error) && error.code === 'BACKEND_REFUSED'
  return { error: publicWords(error), category: isUser ? 'user' : 'server' }
}

/** A model in training, and what its clients have asked of it. */
export interface TrainedModel {
  readonly id: string
  readonly run: RunRecord
  readonly base: ServedModel
  readonly gate: SequenceGate
  /** Hash and promise of the request that made it: the same request again gets the same promise. */
  readonly made: { readonly hash: string; readonly requestId: string }
  /** `folder/name` of saves that are under way. */
  readonly saving: Set<string>
  /** Why it cannot be used any more. */
  lost: string | undefined
  lastRequestMs: number
}

const defaultLimits = {
  /** How long an unfinished poll is held: below the 45 s after which clients give up on it. */
  holdMs: 30_000,
  /** A session that was silent for so long has ended. */
  sessionMs: 300_000,
  /** How long requests wait for one with a lower number. */
  gapMs: 120_000,
  /** How long results are kept that their client has not read, and how much of all. */
  keepMs: 3_600_000,
  keepBytes: 1 << 30,
  /** How long they are kept after that, for a client whose connection broke meanwhile. */
  readMs: 600_000,
  /** Results from this size on are announced before they are sent. */
  announceBytes: 1 << 20,
  bodyBytes: 1 << 27,
  /** Bodies that are read or worked on at once. */
  requestBytes: 1 << 30,
  /** JSON takes several times its size once it is read. */
  jsonBytes: 1 << 25,
  /** Samples that one request may ask for. */
  samples: 1024,
  /** Work outside of a session is cancelled, and its result dropped, when nobody has asked for it for so long. */
  abandonMs: 120_000,
  /** Models in training at once. */
  models: 64,
  /** Weights that stay loaded for sampling. */
  samplersLoaded: 8,
}

/** Bounds and times of a trainer. */
export type TrainerLimits = typeof defaultLimits
