import * as z from 'zod'
import { defineInferenceClient } from '../../../kernel/index.ts'
import { openApiClient } from '../open-api-client.ts'
import { apiKey, baseUrl, type OmittedField, sharedClientParams } from '../shared-client-params.ts'
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
    const options = { kind: 'anthropic', provider: 'anthropic', wire: anthropicWire, omit: untaken(params.model) }
    return openApiClient({ params, random, log }, { ...options, baseUrl: params.base_url, key: params.api_key })
  },
})

// From 4.7 on they refuse a request that says how answers are drawn.
function untaken(model: string): OmittedField[] {
  const [, major = '0', minor = '0'] = /claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  const version = Number(major) + Number(minor) / 100
  return version >= 4.07 ? ['temperature', 'top_p', 'top_k'] : []
}
