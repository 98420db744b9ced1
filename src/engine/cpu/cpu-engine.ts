// The CPU engine: Llama, Qwen2 and Qwen3 in float32 on all cores. Structure is here, in programs of operations over one arena;
// arithmetic is in the runtime that runs them.
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Engine, EngineId, EngineOp, EngineResult, Sample } from '../../contracts/index.ts'
import { EvsysError, sha256 } from '../../kernel/index.ts'
import { decodeCheckpoint } from '../files/checkpoint.ts'
import { checkFits, checkLora, type Decode, type ResolvedModel } from '../files/model-spec.ts'
import { checkAdam } from '../optimizer/adam-state.ts'
import { loaded, refused } from '../refused.ts'
import { type StopRequest, stopsAtText } from '../sampling/next-token.ts'
import { type CpuBase, loadCpuBase } from './cpu-base.ts'
import { CpuModel } from './cpu-model.ts'
import { forwardBackward } from './forward-backward.ts'
import type { Runtime } from './runtime.ts'
import { SampleJob } from './sample-job.ts'
import { SamplingSession } from './sampling-session.ts'
import { type SampleTurns, type SampleWork, workQueue } from './work-queue.ts'

/** Changes with every change of a number that is not the kernels' own. */
const numbers = 'cpu engine, numbers of version 3'

export type CpuEngineOptions = {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
  /** Closed with the engine. */
  runtime: Runtime
  /** The base model that will be used: its weights are read early. */
  preload?: string | undefined
  /** Called with the id of the engine when the first step of training has been answered. */
  afterFirstStep?: ((id: EngineId) => Promise<void>) | undefined
  /** Larger models are refused. */
  maxParameters?: number | undefined
  /** For what one pass of training computes, beyond the weights; bounded by a quarter of the arena. */
  passBytes?: number | undefined
  /** For keys and values while samples are drawn; bounded by a quarter of the arena. */
  cacheBytes?: number | undefined
}

/** Makes an engine without models; `create` and `import` add one. Base weights are read once and shared by all adapters. */
export function createCpuEngine(options: CpuEngineOptions): Engine {
  const { runtime, preload, afterFirstStep } = options
  const id = { ...runtime.id, sourceHash: sha256(`${numbers}\n${runtime.id.sourceHash}`) }
  const held = new Held(options)
  const never = new AbortController().signal
  return workQueue({
    first: preload === undefined ? undefined : () => held.base(preload, never),
    id,
    afterFirstStep: afterFirstStep === undefined ? undefined : () => afterFirstStep(id),
    perform: (op, signal) => perform(held, op, signal),
    sample: (first, turns) => sampleTogether(held, first, turns),
    async close() {
      held.close()
      await runtime[Symbol.asyncDispose]()
    },
  })
}

class Held {
  readonly runtime: Runtime
  readonly passBytes: number
  readonly cacheBytes: number
  readonly models = new Map<string, CpuModel>()
  readonly #bases = new Map<string, CpuBase>()
  readonly #resolved = new Map<string, ResolvedModel>()
  readonly #options: CpuEngineOptions

  constructor(options: CpuEngineOptions) {
    const { runtime, passBytes = 2 ** 30, cacheBytes = 2 ** 30 } = options
    this.#options = options
    this.runtime = runtime
    this.passBytes = Math.min(passBytes, runtime.capacityBytes / 4)
    this.cacheBytes = Math.min(cacheBytes, runtime.capacityBytes / 4)
  }

  /** A base model. `spent`: its weights may be gone, as the caller brings all of them along. */
  async base(name: string, signal: AbortSignal, { spent = false } = {}): Promise<CpuBase> {
    const known = this.#bases.get(name)
    if (known !== undefined && (spent || !known.isSpent)) return known
    const { resolve, maxParameters = Number.POSITIVE_INFINITY } = this.#options
    const resolved = await resolve(name, signal)
    const base = await loadCpuBase(this.runtime, resolved.folder, { maxParameters, signal })
    this.#bases.set(name, base)
    this.#resolved.set(name, resolved)
    return base
  }

  /** What finds stop texts, for a request that has some. */
  async decode({ spec }: CpuModel, request: StopRequest): Promise<Decode | undefined> {
    return stopsAtText(request) ? this.#resolved.get(spec.baseModel)?.openDecode?.() : undefined
  }

  /** Whether another model computes with the weights of this one’s base. */
  sharesBase(model: CpuModel): boolean {
    return [...this.models.values()].some((other) => other !== model && other.base === model.base && other.isOverBase)
  }

  model(id: string): CpuModel {
    const found = loaded(this.models, id)
    if (!found.isTorn) return found
    throw new EvsysError('BACKEND_FAILED', `the weights of "${id}" were lost when a step failed halfway`, {
      fix: 'load its last checkpoint.',
    })
  }

  /** Puts a model in the place of an earlier one; undefined unloads that. */
  put(id: string, model: CpuModel | undefined): void {
    const before = this.models.get(id)
    before?.free()
    if (model === undefined) this.models.delete(id)
    else this.models.set(id, model)
    this.sweep(before)
  }

  /** Frees bases without a model, and weights that no model computes with any more. */
  sweep(gone?: CpuModel): void {
    const models = [...this.models.values()]
    for (const base of new Set([...this.#bases.values(), ...(gone === undefined ? [] : [gone.base])])) {
      const users = models.filter((model) => model.base === base)
      if (users.length === 0) base.free()
      else if (!users.some(({ isOverBase }) => isOverBase)) base.drop()
    }
    for (const [name, base] of this.#bases) if (!models.some((model) => model.base === base)) this.#bases.delete(name)
  }

  close(): void {
    for (const id of [...this.models.keys()]) this.put(id, undefined)
  }
}

type Operation = Exclude<EngineOp, { op: 'sample' }>

async function perform(held: Held, op: Operation, signal: AbortSignal): Promise<EngineResult> {
  switch (op.op) {
    case 'create': {
      if (held.models.has(op.model)) throw refused(`the model "${op.model}" exists already`, 'choose another id.')
      if (op.lora !== undefined) checkLora(op.lora)
      const base = await held.base(op.baseModel, signal)
      held.put(op.model, new CpuModel({ baseModel: op.baseModel, lora: op.lora }, base))
      return { done: true }
    }
    case 'unload':
      held.put(op.model, undefined)
      return { done: true }
    case 'forward':
      return { fwdBwd: await forwardBackward(held.model(op.model), op, { memoryBytes: held.passBytes, signal }) }
    case 'forward_backward': {
      const model = held.model(op.model)
      // A request that fails or is aborted adds nothing.
      const gradients = model.openGradients()
      try {
        const { passBytes: memoryBytes } = held
        const fwdBwd = await forwardBackward(model, op, { gradientOf: gradients.offset, memoryBytes, signal })
        gradients.keep()
        return { fwdBwd }
      } catch (error) {
        gradients.drop()
        throw error
      }
    }
    case 'optim_step': {
      const model = held.model(op.model)
      checkAdam(op.adam)
      const metrics = model.step(op.adam, { takesBase: !held.sharesBase(model) })
      held.sweep()
      return { metrics }
    }
    case 'export':
    case 'export_state':
      return { bytes: held.model(op.model).export(op.op === 'export_state') }
    case 'import': {
      const checkpoint = decodeCheckpoint(op.bytes)
      checkFits(checkpoint, held.models.get(op.model)?.spec)
      const base = await held.base(checkpoint.baseModel, signal, { spent: checkpoint.lora === undefined })
      held.put(op.model, CpuModel.import(checkpoint, base, { optimizer: op.optimizer }))
      return { done: true }
    }
  }
}

/** How long passes may follow each other before the rest of the process has its turn, and signals are seen. */
const breathMs = 4

// Models over one base share their passes; one that is trained whole has its own.
async function sampleTogether(held: Held, first: SampleWork, turns: SampleTurns): Promise<void> {
  const sessions = new Map<CpuBase | CpuModel, SamplingSession>()
  const add = async (work: SampleWork) => {
    try {
      work.signal.throwIfAborted()
      const model = held.model(work.op.model)
      const { base } = model
      const asker = { ...work, resolve: (samples: readonly Sample[]) => work.resolve({ samples }) }
      const job = new SampleJob(model, work.op.request, asker, await held.decode(model, work.op.request))
      const key = model.isOverBase ? base : model
      const session = sessions.get(key) ?? new SamplingSession(base, { cacheBytes: held.cacheBytes })
      sessions.set(key, session)
      session.add(job)
    } catch (error) {
      work.reject(error)
    }
  }
  const isUsed = (id: string) => {
    const model = held.models.get(id)
    return model !== undefined && [...sessions.values()].some((session) => session.uses(model))
  }
  let breathed = performance.now()
  try {
    await add(first)
    for (;;) {
      for (let next = turns.more(); next !== undefined; next = turns.more()) await add(next)
      const busy = [...sessions.values()].filter(({ hasWork }) => hasWork)
      if (busy.length === 0) return
      await turns.between(isUsed)
      for (const session of busy) {
        try {
          session.step()
        } catch (error) {
          session.fail(error)
        }
        if (performance.now() - breathed < breathMs) continue
        await setImmediate()
        breathed = performance.now()
      }
    }
  } finally {
    for (const session of sessions.values()) session.free()
  }
}
