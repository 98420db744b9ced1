// The outside of every engine that computes in this process: operations run one after the other, in the order they were asked
// for, and one that fails does not end the next.
import type { Engine, EngineId, EngineOp, EngineResult } from '../contracts/index.ts'

export type OneAtATimeOptions = {
  id: EngineId
  perform: (op: EngineOp, signal: AbortSignal) => Promise<EngineResult>
  /** Called once everything that was asked for has ended. */
  close: () => void
}

/** An engine around a function that carries out one operation. */
export function oneAtATime({ id, perform, close }: OneAtATimeOptions): Engine {
  let last: Promise<unknown> = Promise.resolve()
  return {
    id: Object.freeze(id),
    run(op, signal) {
      const work = last.then(() => {
        signal.throwIfAborted()
        return perform(op, signal)
      })
      last = work.catch(() => {})
      return work
    },
    async [Symbol.asyncDispose]() {
      await last
      close()
    },
  }
}
