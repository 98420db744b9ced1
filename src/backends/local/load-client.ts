// What talks to a trainer, loaded when it is needed, or before where there is time.
import { extname } from 'node:path'
import { spareArgs } from '../../kernel/index.ts'
import type { ModelText } from '../tinker/open-client-backend.ts'

/** Loads what talks to a trainer. */
export function loadClient() {
  new Headers() // Node loads its HTTP client at the first use of a part of it
  return Promise.all([import('../../tinker/index.ts'), import('../tinker/open-client-backend.ts')])
}

let warm: { readonly model: string; readonly text: Promise<ModelText> } | undefined

/** In a worker that waits for its run: loads what will talk to its spare trainer, or to one of that model elsewhere. */
export function warmUpClient(given?: string): void {
  const [, model = given] = spareArgs(trainerScript()) ?? []
  if (model === undefined) return
  const text = import('../tinker/open-client-backend.ts').then(({ openModelText }) => openModelText(undefined, model))
  text.catch(() => {}) // fails the run that takes it
  warm = { model, text }
  loadClient().catch(() => {}) // fails the run that loads it again
}

/** The text of a model that `warmUpClient` has opened. */
export function takeWarmText(model: string): Promise<ModelText> | undefined {
  const taken = warm
  warm = undefined
  return taken?.model === model ? taken.text : undefined
}

/** Address of the file that a trainer process is started with. */
export function trainerScript(): string {
  return new URL(`./trainer-child${extname(import.meta.url)}`, import.meta.url).href
}
