// The outside of an engine that answers requests for samples together: requests that come while others are being answered share their
// passes. Operations on other models have their turns between these passes, and as much time: a model in training waits for no one's long
// answers, nor answers for training. What is asked of one model is done in the order in which it was asked.
import { performance } from 'node:perf_hooks'
import type { Engine, EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'
import { isOutOfMemory } from './arena-runtime.ts'

/** One operation that a caller waits for. */
export type Work<Op extends EngineOp = EngineOp> = {
  readonly op: Op
  readonly signal: AbortSignal
  resolve(result: EngineResult): void
  reject(error: unknown): void
}
export type SampleWork = Work<Extract<EngineOp, { op: 'sample' }>>
type OtherWork = Work<Exclude<EngineOp, { op: 'sample' }>>

export type WorkQueueOptions = {
  id: EngineId
  /** Done before the first operation. If it fails, it fails again for the operation that needs it. */
  first?: (() => Promise<unknown>) | undefined
  /** Done when the first step of training has been answered. A failure is ignored. */
  afterFirstStep?: (() => Promise<unknown>) | undefined
  perform: (op: Exclude<EngineOp, { op: 'sample' }>, signal: AbortSignal) => Promise<EngineResult>
  /** Answers `first` and what `turns` give, which are asked again before every pass. */
  sample: (first: SampleWork, turns: SampleTurns) => Promise<void>
  /** Called once everything that was asked for has ended. */
  close: () => void | Promise<void>
}

/** What comes while samples are drawn. */
export type SampleTurns = {
  /** The next request for samples. */
  more(): SampleWork | undefined
  /** Does one operation, unless samples are behind others in their time. Models that are `used` are left as they are. */
  between(used: (model: string) => boolean): Promise<void>
}

/** An engine around these functions. */
export function workQueue({ id, first, afterFirstStep, perform, sample, close }: WorkQueueOptions): Engine {
  const waiting: Work[] = []
  let working: Promise<void> | undefined
  /** Needs memory that samples hold: everything behind it waits until they have ended. */
  let needsRoom: Work | undefined
  /** The first that waits, is wanted, and follows nothing else of its model that waits. */
  const take = <W extends Work>(isWanted: (work: Work) => work is W): W | undefined => {
    const earlier = new Set<string>()
    for (const [at, work] of waiting.entries()) {
      if (work === needsRoom) return undefined
      if (isWanted(work) && !earlier.has(work.op.model)) {
        waiting.splice(at, 1)
        return work
      }
      earlier.add(work.op.model)
    }
    return undefined
  }
  /** Samples have as much time as the last operation took. */
  let samplesUntilMs = 0
  const carryOut = async ({ op, signal, resolve }: OtherWork) => {
    const beganMs = performance.now()
    try {
      signal.throwIfAborted()
      resolve(await perform(op, signal))
      if (op.op !== 'optim_step') return
      const after = afterFirstStep
      afterFirstStep = undefined
      await after?.().catch(() => {})
    } finally {
      samplesUntilMs = 2 * performance.now() - beganMs
    }
  }
  const sampleAll = async (work: SampleWork) => {
    await sample(work, {
      more: () => take(isSample),
      async between(used) {
        if (performance.now() < samplesUntilMs) return
        const other = take((each): each is OtherWork => !isSample(each) && !used(each.op.model))
        if (other === undefined) return
        try {
          await carryOut(other)
        } catch (error) {
          // A step that failed halfway cannot be done again; all others leave no trace.
          if (isOutOfMemory(error) && other.op.op !== 'optim_step') {
            needsRoom = other
            waiting.unshift(other)
          } else other.reject(error)
        }
      },
    })
  }
  const workOff = async () => {
    const before = first
    first = undefined
    await before?.().catch(() => {})
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      needsRoom = undefined
      try {
        work.signal.throwIfAborted()
        if (isSample(work)) await sampleAll(work)
        else await carryOut(work as OtherWork) // the two are all there is
      } catch (error) {
        work.reject(error)
      }
    }
    working = undefined
  }
  if (first !== undefined) working = Promise.resolve().then(workOff)
  return {
    id: Object.freeze(id),
    run(op, signal) {
      return new Promise((resolve, reject) => {
        waiting.push({ op, signal, resolve, reject })
        working ??= Promise.resolve().then(workOff)
      })
    },
    async [Symbol.asyncDispose]() {
      await working
      await close()
    },
  }
}

function isSample(work: Work): work is SampleWork {
  return work.op.op === 'sample'
}
