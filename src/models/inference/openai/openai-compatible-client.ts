import * as z from 'zod'
import { defineInferenceClient } from '../../../kernel/index.ts'
import { openApiClient } from '../open-api-client.ts'
import { sharedClientParams } from '../shared-client-params.ts'
import { openaiWire } from './openai-wire.ts'

/** Any server that follows the Chat Completions API: `evsys serve`, vLLM, SGLang, llama.cpp, gateways. */
export const openaiCompatibleClient = defineInferenceClient({
  kind: 'openai_compatible',
  summary: 'Any server with the Chat Completions API: `evsys serve`, vLLM, SGLang, llama.cpp, gateways.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: z.string().min(1).optional().describe('The key, as a reference to a secret; absent: none is sent.'),
    base_url: z
      .url({ protocol: /^https?$/ })
      .describe('Address of the server, up to and with its version: http://127.0.0.1:8000/v1.'),
    length_field: z
      .enum(['max_tokens', 'max_completion_tokens'])
      .default('max_tokens')
      .describe('Field that limits the length of an answer.'),
  }),
  needs: { network: true },
  async open({ params, random, log }) {
    const wire = openaiWire(params.length_field)
    const options = { kind: 'openai_compatible', wire, baseUrl: params.base_url, key: params.api_key }
    return openApiClient({ params, random, log }, options)
  },
})
