import * as z from 'zod'
import type { ToolCall } from '../../contracts/index.ts'
import { defineInferenceClient, EvsysError } from '../../kernel/index.ts'
import { openApiClient } from './open-api-client.ts'
import {
  apiKey,
  baseUrl,
  type ContentPart,
  contentParts,
  type LinkedMessage,
  linkToolCalls,
  type ProviderAnswer,
  plainText,
  sharedClientParams,
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
  async open({ params, random, log }) {
    const options = { kind: 'gemini', provider: 'google', wire: geminiWire }
    return openApiClient({ params, random, log }, { ...options, baseUrl: params.base_url, key: params.api_key })
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

const Answer = z
  .looseObject({
    modelVersion: z.string().optional(),
    candidates: z
      .array(
        z.looseObject({
          content: z.looseObject({ parts: z.array(Part).optional() }).optional(),
          finishReason: StopReason,
        }),
      )
      .optional(),
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
    {
      path: ['candidates'],
      error: 'there is neither an answer nor a reason why there is none',
    },
  )
type Answer = z.infer<typeof Answer>

const geminiWire: WireFormat<typeof Answer> = {
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  body({ messages, tools, stop, seed, maxTokens, temperature, topP, topK }, { omit }) {
    const linked = linkToolCalls(messages)
    const begin = linked.findIndex(({ role }) => role !== 'system')
    const rest = begin === -1 ? [] : linked.slice(begin)
    const system = linked
      .slice(0, linked.length - rest.length)
      .map(({ content }) => ({ text: plainText(content, 'the system message') }))
    return {
      ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
      contents: turns(rest),
      generationConfig: {
        maxOutputTokens: maxTokens,
        ...(omit.has('temperature') ? {} : { temperature }),
        ...(topP === undefined || omit.has('top_p') ? {} : { topP }),
        ...(topK === undefined || omit.has('top_k') ? {} : { topK }),
        ...(omit.has('seed') ? {} : { seed: seed % 2 ** 31 }), // 32 bits with a sign
        ...(stop === undefined || stop.length === 0 || omit.has('stop') ? {} : { stopSequences: stop }),
      },
      ...(tools === undefined || tools.length === 0
        ? {}
        : {
            tools: [
              {
                functionDeclarations: tools.map(({ name, description, parameters }) => ({
                  name,
                  description,
                  parametersJsonSchema: parameters,
                })),
              },
            ],
          }),
    }
  },
  answer: Answer,
  read,
}

type Turn = { role: 'user' | 'model'; parts: unknown[] }

function turns(messages: readonly LinkedMessage[]): Turn[] {
  const list: Turn[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = partsOf(message)
    if (parts.length === 0) continue
    const last = list.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else list.push({ role, parts })
  }
  return list
}

function partsOf(message: LinkedMessage): unknown[] {
  switch (message.role) {
    case 'system':
      throw new EvsysError('DATA_INVALID', 'a system message stands after the beginning of the conversation', {
        fix: 'Gemini models take system messages at the beginning only.',
      })
    case 'user':
      return contentParts(message.content).map(part)
    case 'assistant':
      return [
        ...contentParts(message.content).map(part),
        ...message.calls.map(({ name, args, call }) => ({ functionCall: { name, args }, ...signatureOf(call) })),
      ]
    case 'tool': {
      const result = plainText(message.content, 'the result of a tool')
      return [{ functionResponse: { name: message.name, response: { result } } }]
    }
  }
}

function part(each: ContentPart): unknown {
  if (each.type === 'text') return { text: each.text }
  if (each.data === undefined) return { fileData: { fileUri: each.url } }
  return { inlineData: { mimeType: each.data.mime, data: each.data.base64 } }
}

// Newer models sign their calls and want the signature back; it travels on the call, as in Google's OpenAI-compatible API.
function signatureOf(call: ToolCall): { thoughtSignature?: string | undefined } {
  const { google } = Object(call.extra_content)
  const signature: unknown = Object(google).thought_signature
  return typeof signature === 'string' ? { thoughtSignature: signature } : {}
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
  const reasoning = textOf(true)
  const toolCalls = parts.flatMap(toolCall)
  const reason = candidate === undefined ? 'refused' : stopReasons[candidate.finishReason]
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata
  const cacheRead = usageMetadata.cachedContentTokenCount
  return {
    text: textOf(false),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    stopReason: reason === 'stop' && toolCalls.length > 0 ? 'tool_calls' : reason,
    model: modelVersion,
    counts: {
      prompt: promptTokenCount + toolUsePromptTokenCount,
      completion: candidatesTokenCount + thoughtsTokenCount,
      cacheRead,
    },
  }
}
