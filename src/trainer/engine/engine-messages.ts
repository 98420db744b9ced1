// What the trainer and the thread or process of its engine say to each other. Both are our own code: the types are the contract.
import type { EngineId, EngineOp, EngineResult, ErrorRecord } from '../../contracts/index.ts'

/** An engine as data: a module that exports `openEngine`, and what to call it with. */
export interface EngineModule {
  /** Address of the file, with the extension of the running code. */
  readonly url: string
  /** Whatever can be cloned. */
  readonly options: unknown
  /** `process` for code that can take its process down with it; a thread is quicker to start. */
  readonly home: 'thread' | 'process'
}

/** What is offered to an engine while it is opened. */
export type EngineContext = {
  /** Tells whoever started it. */
  notice: (text: string) => void
}

export type ToEngine =
  | { readonly type: 'run'; readonly id: number; readonly op: EngineOp }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'close' }

export type FromEngine =
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'ready'; readonly engineId: EngineId }
  | { readonly type: 'unopened'; readonly error: ErrorRecord }
  | { readonly type: 'result'; readonly id: number; readonly result: EngineResult }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorRecord }
  | { readonly type: 'closed' }

/** The trainer's end of a thread or process. */
export type EngineHome = {
  send(message: ToEngine): void
  /** Settles when it is gone: with what is known of why, where it did not end by itself. */
  readonly ended: Promise<string | undefined>
  /** Ends it, whatever it does. */
  kill(): void
}

/** Starts one; `take` hears what it says. */
export type StartHome = (module: EngineModule, take: (message: FromEngine) => void) => EngineHome
