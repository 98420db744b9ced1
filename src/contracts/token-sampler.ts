// Sampling by tokens: what a session needs that keeps the tokens of a conversation instead of rendering it anew at each turn.
import type { Sampling } from './execution.ts'
import type { TokenPrice } from './scoring-plugins.ts'
import type { OpenRenderer } from './training-plugins.ts'
import type { Sample } from './training-service.ts'

/** Weights that continue tokens, with the chat format of their model. */
export interface TokenSampler {
  /** Name that the answers carry. */
  readonly model: string
  readonly renderer: OpenRenderer
  /** Absent: what a token costs is not known. */
  readonly price?: TokenPrice
  /** One completion of a prompt, up to what ends an answer of `renderer`. */
  sample(
    request: Sampling & { readonly prompt: Int32Array; readonly seed: number },
    signal: AbortSignal,
  ): Promise<Sample & { readonly policyVersion: number }>
}
