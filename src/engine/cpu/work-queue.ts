// The outside of an engine that answers requests for samples together: operations run in the order they were asked for, and
// requests for samples that follow each other share their passes, also those that come while others are being answered.
import type { Engine, EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'

/** One operation that a caller waits for. */
export type Work<Op extends EngineOp = EngineOp> = {
  readonly op: Op
  readonly signal: AbortSignal
  resolve(result: EngineResult): void
  reject(error: unknown): void
}
export type SampleWork = Work<Extract<EngineOp, { op: 'sample' }>>

export type WorkQueueOptions = {
  id: EngineId
  /** Done before the first operation. If it fails, it fails again for the operation that needs it. */
  first?: (() => Promise<unknown>) | undefined
  /** Done when the first step of training has been answered. A failure is ignored. */
  afterFirstStep?: (() => Promise<unknown>) | undefined
  perform: (op: Exclude<EngineOp, { op: 'sample' }>, signal: AbortSignal) => Promise<EngineResult>
  /** Answers `first` and what `more` gives; `more` is called again and again, and gives nothing while other work waits. */
  sample: (first: SampleWork, more: () => SampleWork | undefined) => Promise<void>
  /** Called once everything that was asked for has ended. */
  close: () => void | Promise<void>
}

/** An engine around these functions. */
export function workQueue({ id, first, afterFirstStep, perform, sample, close }: WorkQueueOptions): Engine {
  const waiting: Work[] = []
  let working: Promise<void> | undefined
  const next = (): SampleWork | undefined => {
    const [first] = waiting
    if (first === undefined || !isSample(first)) return undefined
    waiting.shift()
    return first
  }
  const workOff = async () => {
    const before = first
    first = undefined
    await before?.().catch(() => {})
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      const { op, signal, resolve, reject } = work
      try {
        signal.throwIfAborted()
        if (isSample(work)) await sample(work, next)
        else if (op.op !== 'sample') resolve(await perform(op, signal))
      } catch (error) {
        reject(error)
        continue
      }
      if (op.op !== 'optim_step') continue
      const after = afterFirstStep
      afterFirstStep = undefined
      await after?.().catch(() => {})
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
