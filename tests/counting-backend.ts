// The mock backend, which tells what nobody let go of: snapshots that were taken and not removed when the backend was closed, and
// requests for samples that still ran.
import { mockBackend } from '../src/backends/mock/mock-backend.ts'
import type { TrainingService } from '../src/contracts/index.ts'
import { defineBackend } from '../src/kernel/index.ts'

export interface SnapshotCount {
  taken: number
  /** Those that a closed backend still had. */
  left: string[]
  /** Requests for samples under way when a backend was closed. */
  sampling: number
}

export function countingBackend(count: SnapshotCount = { taken: 0, left: [], sampling: 0 }) {
  return defineBackend({
    kind: 'counting',
    summary: 'Counts snapshots.',
    params: mockBackend.params,
    async open(context) {
      const { service: inner, ...backend } = await mockBackend.open(context)
      const alive = new Set<string>()
      let sampling = 0
      const service: TrainingService = {
        ...inner,
        async snapshot(model) {
          const ref = await inner.snapshot(model)
          count.taken += 1
          alive.add(ref.uri)
          return ref
        },
        async sample(request) {
          sampling += 1
          return await inner.sample(request).finally(() => {
            sampling -= 1
          })
        },
        async remove(ref) {
          alive.delete(ref.uri)
          await inner.remove?.(ref)
        },
      }
      return {
        ...backend,
        service,
        async [Symbol.asyncDispose]() {
          count.left.push(...alive)
          count.sampling += sampling
          await backend[Symbol.asyncDispose]()
        },
      }
    },
  })
}
