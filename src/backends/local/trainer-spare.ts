import type { RunConfig } from '../../contracts/index.ts'
import type { ForkSpec } from '../../kernel/index.ts'
import { localBackend } from './local-backend.ts'
import { trainerFork } from './start-trainer-process.ts'

/** The trainer that a run will want, for a backend that comes with evsys: its worker starts it before anything else. */
export function trainerSpare({ backend, model }: Pick<RunConfig, 'backend' | 'model'>): ForkSpec | undefined {
  if (backend.kind !== localBackend.kind) return undefined
  const params = localBackend.params.safeParse(backend.params)
  return params.data?.engine === 'cpu' ? trainerFork(params.data.engine, [model.name]) : undefined
}
