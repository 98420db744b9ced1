import * as z from 'zod'
import { defineInferenceClient } from '../../../kernel/index.ts'
import { openApiClient } from '../open-api-client.ts'
import { apiKey, baseUrl, sharedClientParams } from '../shared-client-params.ts'
import { geminiWire } from './gemini-wire.ts'

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
