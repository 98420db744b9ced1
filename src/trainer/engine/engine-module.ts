// The engines that a trainer can use, as modules for a thread or process, and what the two sides send each other. Both are our
// code: the types are the contract.
import { extname } from 'node:path'
import * as z from 'zod'
import type { EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'
import type { ForkSpec } from '../../kernel/index.ts'

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

/** `folders`: the folder of each base model, by the name that clients use. `cacheFolder`: where compiled kernels are kept. */
export type EngineChoice =
  | { readonly kind: 'mock'; readonly vocabSize: number }
  | { readonly kind: 'cpu'; readonly folders: Readonly<Record<string, string>>; readonly cacheFolder: string }
  | { readonly kind: 'reference'; readonly folders: Readonly<Record<string, string>> }

const builtIn = new URL(`./built-in-engine-module${extname(import.meta.url)}`, import.meta.url)

export function engineModule(choice: EngineChoice): EngineModule {
  // Only kernels can fail in a way that no thread survives.
  return { url: builtIn.href, options: choice, home: choice.kind === 'cpu' ? 'process' : 'thread' }
}

/** What the thread or process of an engine runs. */
export const engineScript = (): URL => new URL(`./engine-child${extname(import.meta.url)}`, import.meta.url)

/** The process of an engine that opens this module: a warm spare of it is started with the same. */
export const engineFork = (url: string): ForkSpec => ({ script: engineScript().href, args: [url] })
