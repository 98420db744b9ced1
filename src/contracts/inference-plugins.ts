// Plugins that answer: chat formats, and clients of models that are behind an API or served here.
import * as z from 'zod'
import type { Sampling, TurnTokens, Usage } from './execution.ts'
import type { Context, Plugin } from './plugin.ts'
import type { ChatMessage, ToolCall } from './rows.ts'
import type { Sample, Stop } from './training-service.ts'

/** Text to tokens and back, for one model. */
export interface Tokenizer {
  /** Without `special`, text that spells a special token is plain text: content cannot forge the end of a turn. */
  encode(text: string, options?: { special?: boolean | undefined }): Int32Array
  decode(tokens: Int32Array): string
  readonly vocabSize: number
}

/** Tokens of a conversation, with the message that each token belongs to. */
export interface Rendered {
  readonly tokens: Int32Array
  /** Per token: index of its message, or -1 for template text. */
  readonly message: Int32Array
  /** Per token: 1 where an assistant would have to produce it. */
  readonly produced: Uint8Array
}

/** Conversations as the tokens of one model, and back. */
export interface OpenRenderer {
  /** A whole conversation, for training. */
  conversation(messages: readonly ChatMessage[]): Rendered
  /** Up to where the assistant answers, for sampling; with the tools that it may call, where `takesTools`. */
  prompt(messages: readonly ChatMessage[], tools?: readonly ToolSpec[]): Int32Array
  /** The message that an answer amounts to: text, reasoning, tool calls. `complete`: it ended as an answer should. */
  parse(completion: Int32Array): { message: ChatMessage; complete: boolean }
  /** What ends an answer. */
  readonly stop: Stop
  /**
   * False: an earlier answer is not written as it was produced (its reasoning is dropped), so that every answer has to be trained
   * on in a conversation that ends with it. Absent: true.
   */
  readonly extendsHistory?: boolean | undefined
  /** Tools can be declared. Absent: they cannot. */
  readonly takesTools?: boolean | undefined
}

/** A chat format. */
export interface Renderer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'renderer', K, S> {
  open(
    context: Context<z.output<S>> & { tokenizer: Tokenizer; chatTemplate?: string | undefined },
  ): Promise<OpenRenderer>
}

/** Weights that continue tokens, with the chat format of their model: conversations stay tokens instead of being rendered at each turn. */
export interface TokenSampler {
  /** Name that the answers carry. */
  readonly model: string
  readonly renderer: OpenRenderer
  /** Absent: what a token costs is not known. */
  readonly price?: TokenPrice | undefined
  /** One completion of a prompt, up to what ends an answer of `renderer`. */
  sample(
    request: Sampling & { readonly prompt: Int32Array; readonly seed: number },
    signal: AbortSignal,
  ): Promise<Sample & { readonly policyVersion: number }>
}

/** A function that the model may call: its parameters as JSON Schema. */
export interface ToolSpec {
  readonly name: string
  readonly description?: string | undefined
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A conversation to be continued, and how. */
export interface GenerateRequest extends Sampling {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolSpec[] | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed: number
}

/** Dollars for a million tokens. */
export const TokenPrice = z.strictObject({
  input: z.number().min(0).describe('Dollars for a million prompt tokens.'),
  output: z.number().min(0).describe('Dollars for a million completion tokens.'),
  cache_read: z.number().min(0).optional().describe('For prompt tokens out of the cache; absent: as `input`.'),
  cache_write: z.number().min(0).optional().describe('For prompt tokens put into the cache; absent: as `input`.'),
})
export type TokenPrice = z.infer<typeof TokenPrice>

/** An answer. */
export interface Generated {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly toolCalls?: readonly ToolCall[] | undefined
  readonly usage: Usage
  /** `refused`: the provider's filter or the model declined. It is an answer, not a failure. */
  readonly stopReason: 'stop' | 'length' | 'tool_calls' | 'refused'
  /** The model that answered, as its provider names it. */
  readonly model?: string | undefined
  /** What `usage.costUsd` was computed with, so that it can be computed again. */
  readonly price?: TokenPrice | undefined
  /** Read from a cassette: nothing was sent and nothing was paid. */
  readonly replayed?: boolean | undefined
  /** Present where the model is served here; absent for most APIs. */
  readonly tokens?: TurnTokens | undefined
}

/** A model that answers. */
export interface OpenInferenceClient extends Partial<AsyncDisposable> {
  /** False: tools cannot be declared to it, and have to be described in words. Absent: nothing says so. */
  readonly takesTools?: boolean | undefined
  generate(request: GenerateRequest, signal: AbortSignal): Promise<Generated>
  /** Present where conversations become tokens here. What records or replays answers leaves it out: it would be passed by. */
  readonly sampler?: TokenSampler | undefined
}

/** How a model is reached: an API, or weights served here. */
export interface InferenceClient<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'inference_client', K, S> {
  open(context: Context<z.output<S>>): Promise<OpenInferenceClient>
}
