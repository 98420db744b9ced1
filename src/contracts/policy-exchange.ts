// What crosses when an agent runs in one process and the model that answers it in another: the calls of `OpenInferenceClient`, in words.
import * as z from 'zod'
import { ChatMessage, ToolCall } from './rows.ts'

/** A conversation to be continued by the policy. */
export const PolicyQuestion = z.strictObject({
  session: z.string().describe('Conversations of one session are one attempt: what was drawn in it stays as tokens.'),
  messages: z.array(ChatMessage),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  stop: z.array(z.string()).optional(),
  seed: z.int(),
  max_tokens: z.int().min(1),
  temperature: z.number().min(0),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
})
export type PolicyQuestion = z.infer<typeof PolicyQuestion>

/** What the policy said, and what that took. Tokens stay where the model is: nothing is trained on these answers. */
export const PolicyAnswer = z.strictObject({
  text: z.string(),
  reasoning: z.string().optional(),
  tool_calls: z.array(ToolCall).optional(),
  stop_reason: z.enum(['stop', 'length', 'tool_calls', 'refused']),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  latency_s: z.number().min(0),
})
export type PolicyAnswer = z.infer<typeof PolicyAnswer>
