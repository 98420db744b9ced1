// The clients of APIs. Those that draw samples here live with the backends, which know the training protocol.
import { anthropicClient } from './anthropic/anthropic-client.ts'
import { geminiClient } from './gemini/gemini-client.ts'
import { mockClient } from './mock-client.ts'
import { openaiClient } from './openai/openai-client.ts'
import { openaiCompatibleClient } from './openai/openai-compatible-client.ts'

export const inferenceClients = [
  anthropicClient,
  geminiClient,
  mockClient,
  openaiClient,
  openaiCompatibleClient,
] as const
