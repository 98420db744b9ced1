// The engines that a trainer can be told to use, as modules for a thread or process of their own.
import { extname } from 'node:path'
import type { ForkSpec } from '../../kernel/index.ts'
import type { EngineModule } from './engine-messages.ts'

export type EngineChoice =
  | { readonly kind: 'mock'; readonly vocabSize: number }
  /** The folder of each base model, by the name that clients use. */
  | {
      readonly kind: 'cpu'
      readonly folders: Readonly<Record<string, string>>
      /** Where compiled kernels are kept. */
      readonly cacheFolder: string
    }
  | { readonly kind: 'reference'; readonly folders: Readonly<Record<string, string>> }

const modules: Readonly<Record<EngineChoice['kind'], URL>> = {
  mock: new URL(`./mock-engine-module${extname(import.meta.url)}`, import.meta.url),
  cpu: new URL(`./cpu-engine-module${extname(import.meta.url)}`, import.meta.url),
  reference: new URL(`./reference-engine-module${extname(import.meta.url)}`, import.meta.url),
}

export function engineModule({ kind, ...options }: EngineChoice): EngineModule {
  // Only kernels can fail in a way that no thread survives.
  return { url: modules[kind].href, options, home: kind === 'cpu' ? 'process' : 'thread' }
}

/** What the thread or process of an engine runs. */
export const engineScript = () => new URL(`./engine-child${extname(import.meta.url)}`, import.meta.url)

/** The process of an engine that opens this module: a warm spare of it is started with the same. */
export const engineFork = (url: string): ForkSpec => ({ script: engineScript().href, args: [url] })
