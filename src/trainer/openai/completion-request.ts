// Requests of the OpenAI-compatible routes. Fields that are not known are ignored, as other servers do.
import * as z from 'zod'
import { ChatMessage } from '../../contracts/index.ts'

const shared = {
  model: z.string(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().refine(Number.isInteger, 'expected a whole number').nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
}

export const CompletionRequest = z.object({
  ...shared,
  prompt: z.union([z.string(), z.array(z.int()).min(1), z.array(z.string()).min(1), z.array(z.array(z.int())).min(1)]),
  max_tokens: z.int().min(1).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.literal(false, 'echo is not offered').nullish(),
})
export type CompletionRequest = z.infer<typeof CompletionRequest>

export const ChatRequest = z.object({
  ...shared,
  messages: z.array(z.preprocess(withoutExtras, ChatMessage)).min(1),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>

const messageKeys = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning_content']

// Clients send back what servers sent them: refusals, annotations, nulls.
function withoutExtras(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message
  return Object.fromEntries(
    Object.entries(message).filter(
      ([key, value]) => messageKeys.includes(key) && (value !== null || key === 'content'),
    ),
  )
}
