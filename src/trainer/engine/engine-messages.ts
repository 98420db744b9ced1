// What the trainer and the thread or process of its engine send each other. Both are our own code: the types are the contract.
import * as z from 'zod'
import type { EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'

/** An engine as data: a module that exports `openEngine`, and what to call it with. */
export interface EngineModule {
  /** Address of the file, with the extension of the running code. */
  readonly url: string
  /** Anything that can be cloned. */
  readonly options: unknown
  /** `process` for code that can take its process down with it; a thread is quicker to start. */
  readonly home: 'thread' | 'process'
}

/** What is offered to an engine while it is opened. */
export type EngineContext = {
  /** Reports to the trainer, which logs it. */
  notice: (text: string) => void
}

export const engineProtocol = {
  child: {
    open: { params: z.custom<EngineModule>(), result: z.custom<EngineId>() },
    run: { params: z.custom<EngineOp>(), result: z.custom<EngineResult>() },
    close: { params: z.null(), result: z.null() },
  },
  parent: { notice: { params: z.string() } },
} as const
