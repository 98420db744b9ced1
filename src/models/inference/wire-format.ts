// What a provider's API is, as data and two functions: how a conversation is written for it, and how its answer is read.
import type * as z from 'zod'
import type { Generated, GenerateRequest } from '../../contracts/index.ts'
import type { OmittedField } from './shared-client-params.ts'

/** Tokens as a provider counts them. */
export interface TokenCounts {
  /** All of the prompt, also what was in the cache. */
  readonly prompt: number
  readonly completion: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** What a provider answered. */
export interface ProviderAnswer extends Pick<Generated, 'text' | 'reasoning' | 'toolCalls' | 'stopReason'> {
  readonly model?: string | undefined
  readonly counts: TokenCounts
}

export interface WireFormat<S extends z.ZodType = z.ZodType> {
  /** After the base URL. */
  path(model: string): string
  headers(key: string | undefined): Record<string, string>
  /** The body of a request. `omit`: fields that the model does not take. */
  body(request: GenerateRequest, options: { model: string; omit: ReadonlySet<OmittedField> }): Record<string, unknown>
  /** The parts of an answer that are read. */
  readonly answer: S
  read(answer: z.output<S>): ProviderAnswer
}
