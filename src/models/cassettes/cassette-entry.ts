// One recorded answer: the request it belongs to, without secrets, and what was answered.
import * as z from 'zod'
import { TokenPrice, ToolCall } from '../../contracts/index.ts'

const RecordedAnswer = z.strictObject({
  text: z.string(),
  reasoning: z.string().optional(),
  toolCalls: z.array(ToolCall).optional(),
  usage: z.strictObject({
    promptTokens: z.number().min(0),
    completionTokens: z.number().min(0),
    cachedPromptTokens: z.number().min(0).optional(),
    latencyS: z.number().min(0),
    costUsd: z.number().min(0).optional(),
  }),
  stopReason: z.enum(['stop', 'length', 'tool_calls', 'refused']),
  model: z.string().optional(),
  price: TokenPrice.optional(),
})
export type RecordedAnswer = z.infer<typeof RecordedAnswer>

export const CassetteEntry = z.strictObject({
  version: z.literal(1),
  /** Hash of client and request, which is also the name of the file. */
  key: z.string(),
  client: z.strictObject({ kind: z.string(), params: z.record(z.string(), z.unknown()) }),
  request: z.record(z.string(), z.unknown()),
  answer: RecordedAnswer,
})
export type CassetteEntry = z.infer<typeof CassetteEntry>
