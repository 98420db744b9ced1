import { extname } from 'node:path'
import type { RunConfig } from '../../contracts/index.ts'
import { localBackend } from './local-backend.ts'

/** A module whose `startEarly` is called with arguments before anything else of a process is loaded. */
export interface EarlyStart {
  readonly module: string
  readonly args: readonly string[]
}

/** What the process of a run may start before the run is handed to it, for a backend that comes with evsys. */
export function earlyStart({ backend, model }: Pick<RunConfig, 'backend' | 'model'>): EarlyStart | undefined {
  if (backend.kind !== localBackend.kind) return undefined
  const params = localBackend.params.safeParse(backend.params)
  if (params.data?.engine !== 'cpu') return undefined
  const module = new URL(`./early-trainer${extname(import.meta.url)}`, import.meta.url).href
  return { module, args: [params.data.engine, model.name] }
}
