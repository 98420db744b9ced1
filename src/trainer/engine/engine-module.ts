// The engines that a trainer can be told to use, as modules for a thread or process of their own.
import { extname } from 'node:path'
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

export function engineModule({ kind, ...options }: EngineChoice): EngineModule {
  const url = new URL(`./${kind}-engine-module${extname(import.meta.url)}`, import.meta.url).href
  // Only kernels can fail in a way that no thread survives.
  return { url, options, home: kind === 'cpu' ? 'process' : 'thread' }
}
