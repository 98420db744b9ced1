import * as z from 'zod'
import type { ToolCall } from '../../contracts/index.ts'
import { defineInferenceClient } from '../../kernel/index.ts'
import { openApiClient } from './open-api-client.ts'
import {
  apiKey,
  baseUrl,
  type ContentPart,
  contentParts,
  type LinkedMessage,
  type ProviderAnswer,
  plainText,
  sharedClientParams,
  splitSystem,
  turnsOf,
  type WireFormat,
} from './wire-format.ts'

/** Gemini models, by the API of Google AI. */
export const geminiClient = defineInferenceClient({
  kind: 'gemini',
  summary: 'Gemini models of Google, by the generateContent API.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: apiKey('GEMINI_API_KEY'),
    base_url: baseUrl('https://generativelanguage.googleapis.com'),
  }),
  needs: { network: true },
  async open(context) {
    return openApiClient(context, { kind: 'gemini', provider: 'google', wire: geminiWire })
  },
})

// Google's generateContent, version v1beta. The assistant is called `model`, calls have no ids, and a prompt that is blocked has
// no answer at all.
const Part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z
    .looseObject({ name: z.string().min(1), args: z.record(z.string(), z.unknown()).nullish() })
    .optional(),
})
type Part = z.infer<typeof Part>

// Google adds reasons now and then: those that are not named here are not guessed at.
const stopReasons = {
  STOP: 'stop',
  MALFORMED_FUNCTION_CALL: 'stop', // the model's own mistake, and its answer
  UNEXPECTED_TOOL_CALL: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'refused',
  RECITATION: 'refused',
  LANGUAGE: 'refused',
  BLOCKLIST: 'refused',
  PROHIBITED_CONTENT: 'refused',
  SPII: 'refused',
  IMAGE_SAFETY: 'refused',
} as const
const StopReason = z.literal(Object.keys(stopReasons) as (keyof typeof stopReasons)[]) // the keys of the object above

const Candidate = z.looseObject({
  content: z.looseObject({ parts: z.array(Part).optional() }).optional(),
  finishReason: StopReason,
})

const Answer = z
  .looseObject({
    modelVersion: z.string().optional(),
    candidates: z.array(Candidate).optional(),
    promptFeedback: z.looseObject({ blockReason: z.string().optional() }).optional(),
    usageMetadata: z.looseObject({
      promptTokenCount: z.int().min(0).default(0),
      candidatesTokenCount: z.int().min(0).default(0),
      thoughtsTokenCount: z.int().min(0).default(0),
      toolUsePromptTokenCount: z.int().min(0).default(0),
      cachedContentTokenCount: z.int().min(0).optional(),
    }),
  })
  .refine(
    ({ candidates, promptFeedback }) => candidates?.[0] !== undefined || promptFeedback?.blockReason !== undefined,
    { path: ['candidates'], error: 'there is neither an answer nor a reason why there is none' },
  )
type Answer = z.infer<typeof Answer>

const geminiWire: WireFormat<typeof Answer> = {
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  body({ messages, tools, stop, seed, maxTokens, temperature, topP, topK }) {
    const { system, rest } = splitSystem(messages, 'Gemini')
    const declared = tools?.map(({ name, description, parameters }) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    }))
    return {
      systemInstruction: system.length === 0 ? undefined : { parts: system.map((text) => ({ text })) },
      contents: turnsOf(rest, partsOf).map(({ isAnswer, parts }) => ({ role: isAnswer ? 'model' : 'user', parts })),
      generationConfig: { maxOutputTokens: maxTokens, temperature, topP, topK, seed, stopSequences: stop },
      tools: declared === undefined ? undefined : [{ functionDeclarations: declared }],
    }
  },
  answer: Answer,
  read,
}

function partsOf(message: LinkedMessage): unknown[] {
  if (message.role === 'tool') {
    const result = plainText(message.content, 'the result of a tool')
    return [{ functionResponse: { name: message.name, response: { result } } }]
  }
  const parts = contentParts(message.content).map(part)
  if (message.role !== 'assistant') return parts
  const calls = message.calls.map(({ name, args, call }) => ({
    functionCall: { name, args },
    thoughtSignature: signatureOf(call),
  }))
  return [...parts, ...calls]
}

function part(each: ContentPart): unknown {
  if (each.type === 'text') return { text: each.text }
  if (each.data === undefined) return { fileData: { fileUri: each.url } }
  return { inlineData: { mimeType: each.data.mime, data: each.data.base64 } }
}

// Newer models sign their calls and want the signature back; it travels on the call, as in Google's OpenAI-compatible API.
function signatureOf(call: ToolCall): string | undefined {
  const { google } = Object(call.extra_content)
  const signature: unknown = Object(google).thought_signature
  return typeof signature === 'string' ? signature : undefined
}

function toolCall({ functionCall, thoughtSignature }: Part): ToolCall[] {
  if (functionCall === undefined) return []
  const { name, args } = functionCall
  return [
    {
      type: 'function',
      function: { name, arguments: args ?? {} },
      extra_content: thoughtSignature === undefined ? undefined : { google: { thought_signature: thoughtSignature } },
    },
  ]
}

function read({ candidates, usageMetadata, modelVersion }: Answer): ProviderAnswer {
  const candidate = candidates?.[0]
  const parts = candidate?.content?.parts ?? []
  const textOf = (isThought: boolean) =>
    parts.flatMap(({ text = '', thought = false }) => (thought === isThought ? [text] : [])).join('')
  const toolCalls = parts.flatMap(toolCall)
  const reason = candidate === undefined ? 'refused' : stopReasons[candidate.finishReason]
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata
  return {
    text: textOf(false),
    reasoning: textOf(true) || undefined,
    toolCalls: toolCalls.length === 0 ? undefined : toolCalls,
    stopReason: reason === 'stop' && toolCalls.length > 0 ? 'tool_calls' : reason,
    model: modelVersion,
    counts: {
      prompt: promptTokenCount + toolUsePromptTokenCount,
      completion: candidatesTokenCount + thoughtsTokenCount,
      cacheRead: usageMetadata.cachedContentTokenCount,
    },
  }
}
