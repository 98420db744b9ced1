// A numeric engine: executes operations on weights it holds. Knows no HTTP, no session, no queue, no file.
import type { Metrics } from './events.ts'
import type { Adam, Datum, FwdBwd, ModelId, NamedLoss, Sample, SampleReq } from './training-service.ts'

/** What decides the bytes of a result. Two engines with equal ids give equal results for equal seeds. */
export interface EngineId {
  readonly kind: string
  readonly sourceHash: string
  readonly threads: number
  readonly cpuFeatures: readonly string[]
}

/** A low-rank adapter over frozen base weights. */
export interface LoraSpec {
  readonly rank: number
  /** Root of its initial values. */
  readonly seed: number
  readonly trainAttention: boolean
  readonly trainMlp: boolean
  readonly trainUnembedding: boolean
}

/** One unit of work, all of it data: an engine may live in a thread or a process of its own. */
export type EngineOp =
  | { readonly op: 'create'; readonly model: ModelId; readonly baseModel: string; readonly lora?: LoraSpec }
  | { readonly op: 'unload'; readonly model: ModelId }
  | {
      readonly op: 'forward' | 'forward_backward'
      readonly model: ModelId
      readonly data: readonly Datum[]
      readonly loss: NamedLoss
    }
  | { readonly op: 'optim_step'; readonly model: ModelId; readonly adam: Adam }
  | { readonly op: 'sample'; readonly model: ModelId; readonly request: Omit<SampleReq, 'model'> }
  /** Weights alone, or with the optimiser's state. */
  | { readonly op: 'export' | 'export_state'; readonly model: ModelId }
  | { readonly op: 'import'; readonly model: ModelId; readonly bytes: Uint8Array; readonly optimizer: boolean }

/** What an operation answers; `done` where there is nothing to tell. */
export type EngineResult =
  | { readonly fwdBwd: FwdBwd }
  | { readonly metrics: Metrics }
  | { readonly samples: readonly Sample[] }
  | { readonly bytes: Uint8Array }
  | { readonly done: true }

/** Weights and the arithmetic on them. Operations run one after the other, in the order they were asked for. */
export interface Engine extends AsyncDisposable {
  readonly id: EngineId
  run(op: EngineOp, signal: AbortSignal): Promise<EngineResult>
}
