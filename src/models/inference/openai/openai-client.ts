import * as z from 'zod'
import { defineInferenceClient } from '../../../kernel/index.ts'
import { openApiClient } from '../open-api-client.ts'
import { apiKey, baseUrl, type OmittedField, sharedClientParams } from '../shared-client-params.ts'
import { openaiWire } from './openai-wire.ts'

/** Models of OpenAI, by the Chat Completions API. */
export const openaiClient = defineInferenceClient({
  kind: 'openai',
  summary: 'Models of OpenAI, by the Chat Completions API.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: apiKey('OPENAI_API_KEY'),
    base_url: baseUrl('https://api.openai.com/v1'),
    organization: z.string().min(1).optional().describe('Organization that the calls are booked under.'),
  }),
  needs: { network: true },
  async open({ params, random, log }) {
    const { organization, model } = params
    return openApiClient(
      { params, random, log },
      {
        kind: 'openai',
        provider: 'openai',
        wire: openaiWire('max_completion_tokens'),
        baseUrl: params.base_url,
        key: params.api_key,
        ...(organization === undefined ? {} : { headers: { 'openai-organization': organization } }),
        omit: untaken(model),
      },
    )
  },
})

// OpenAI has no top_k, and its reasoning models take neither a temperature nor stop sequences.
function untaken(model: string): OmittedField[] {
  const reasons = /^(o\d|gpt-[5-9])/.test(model) && !model.includes('chat')
  return reasons ? ['top_k', 'temperature', 'top_p', 'stop'] : ['top_k']
}
