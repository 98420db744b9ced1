import * as z from 'zod'
import { defineInferenceClient } from '../../../kernel/index.ts'
import { openApiClient } from '../open-api-client.ts'
import { apiKey, baseUrl, sharedClientParams } from '../shared-client-params.ts'
import { anthropicWire } from './anthropic-wire.ts'

/** Claude models, by the Messages API. */
export const anthropicClient = defineInferenceClient({
  kind: 'anthropic',
  summary: 'Claude models of Anthropic, by the Messages API.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: apiKey('ANTHROPIC_API_KEY'),
    base_url: baseUrl('https://api.anthropic.com'),
  }),
  needs: { network: true },
  async open({ params, random, log }) {
    const options = { kind: 'anthropic', provider: 'anthropic', wire: anthropicWire }
    return openApiClient({ params, random, log }, { ...options, baseUrl: params.base_url, key: params.api_key })
  },
})
