// What the trainer and the thread of its engine say to each other. Both are our own code: the types are the contract.
import type { EngineId, EngineOp, EngineResult, ErrorRecord } from '../../contracts/index.ts'

/** An engine as data: a module that exports `openEngine`, and what to call it with. */
export interface EngineModule {
  /** Address of the file, with the extension of the running code. */
  readonly url: string
  /** Whatever can be cloned. */
  readonly options: unknown
}

/** What the thread offers to the engine that is opened in it. */
export type ThreadContext = {
  /** Tells whoever started the thread, while the engine is opened. */
  notice: (text: string) => void
}

export type ToThread =
  | { readonly type: 'run'; readonly id: number; readonly op: EngineOp }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'close' }

export type FromThread =
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'ready'; readonly engineId: EngineId }
  | { readonly type: 'result'; readonly id: number; readonly result: EngineResult }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorRecord }
  | { readonly type: 'closed' }
