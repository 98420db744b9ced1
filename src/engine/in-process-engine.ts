// The outside of every engine that computes in this process: operations run one after the other, in the order they were asked
// for, and one that fails does not end the next.
import { setImmediate } from 'node:timers/promises'
import type { Engine, EngineId, EngineOp, EngineResult } from '../contracts/index.ts'

type OneAtATimeOptions = {
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

// Long computations in one thread: now and then the rest of the process gets its turn, and the signal is checked.
/** To be called after so much work; waits a turn of the event loop when enough has come together. */
export type Breathe = (work: number) => Promise<void>

/** A breather for work in units of the caller's choice; `perBreath` of them should take a few milliseconds. */
export function breather(signal: AbortSignal, perBreath: number): Breathe {
  let since = 0
  return async (work) => {
    since += work
    if (since < perBreath) return
    since = 0
    await setImmediate()
    signal.throwIfAborted()
  }
}
