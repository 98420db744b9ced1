// A numeric engine: executes operations on weights it holds. Knows no HTTP, no session, no queue.
import type { Adam, Datum, FwdBwd, Loss, Metrics, Sample, SampleReq } from './training-service.ts'

/** What decides the bytes of a result. Two engines with equal ids give equal results for equal seeds. */
export interface EngineId {
  readonly kind: string
  readonly sourceHash: string
  readonly threads: number
  readonly cpuFeatures: readonly string[]
}

export type EngineOp =
  | {
      readonly op: 'forward' | 'forward_backward'
      readonly model: string
      readonly data: readonly Datum[]
      readonly loss: Loss
    }
  | { readonly op: 'optim_step'; readonly model: string; readonly adam: Adam }
  | { readonly op: 'sample'; readonly request: SampleReq }
  | { readonly op: 'export' | 'export_state'; readonly model: string }
  | { readonly op: 'import'; readonly model: string; readonly bytes: Uint8Array; readonly optimizer: boolean }

export type EngineResult =
  | { readonly fwdBwd: FwdBwd }
  | { readonly metrics: Metrics }
  | { readonly samples: readonly Sample[] }
  | { readonly bytes: Uint8Array }
  | { readonly done: true }

export interface Engine extends AsyncDisposable {
  readonly id: EngineId
  run(op: EngineOp, signal: AbortSignal): Promise<EngineResult>
}
