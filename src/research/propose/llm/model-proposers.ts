// The proposers that ask a model behind an API.
import * as z from 'zod'
import { type PluginSpec, TokenPrice } from '../../../contracts/index.ts'
import { defineProposer } from '../../../kernel/index.ts'
import { findPrice } from '../../../models/index.ts'
import { proposeByModel } from './propose-by-model.ts'

const shared = {
  most_ideas: z.int().min(1).max(50).default(6).describe('Ideas of one call, however many are asked for.'),
  max_tokens: z.int().min(256).max(200_000).default(16_000).describe('Longest answer.'),
  temperature: z.number().min(0).max(2).default(1).describe('How freely ideas are drawn.'),
  timeout_s: z.number().gt(0).max(300).default(300).describe('How long one attempt may take.'),
  max_attempts: z.int().min(1).max(20).default(6).describe('How often a call is tried, where trying again may help.'),
  retry_wait_s: z
    .number()
    .min(0)
    .max(60)
    .default(1)
    .describe('Wait before the second attempt, doubled before each further one.'),
  price: TokenPrice.optional().describe('Dollars for a million tokens; wins over the built-in table.'),
  extra_body: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Options of the provider that have no param here.'),
}

const anthropicParams = z.strictObject({
  model: z.string().min(1).default('claude-sonnet-4-6').describe('The model, as Anthropic names it.'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of Anthropic, or of a gateway. Default: ANTHROPIC_BASE_URL, else https://api.anthropic.com.'),
  ...shared,
})

/** Asks a Claude model. */
export const anthropic = defineProposer({
  kind: 'anthropic',
  summary: 'Asks a Claude model for several labelled ideas per call.',
  params: anthropicParams,
  needs: { network: true, secrets: ['ANTHROPIC_API_KEY'] },
  async propose(brief, { params, signal, random, log, secret }) {
    const client = clientSpec('anthropic', params, { base_url: params.base_url })
    return proposeByModel(brief, { ...limits(params, 'anthropic'), client }, { signal, random, log, secret })
  },
})

const openaiHost = 'https://api.openai.com/v1'

const openaiParams = z.strictObject({
  model: z.string().min(1).describe('The model, as its server names it.'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of the server, up to and with its version: http://127.0.0.1:8000/v1. Default: OPENAI_BASE_URL, else https://api.openai.com/v1.',
    ),
  key: z
    .enum(['OPENAI_API_KEY', 'none'])
    .optional()
    .describe('Secret that is sent as the key. Absent: OPENAI_API_KEY to OpenAI, none to any other server.'),
  ...shared,
})

/** Asks any model behind the Chat Completions API. */
export const openaiCompatible = defineProposer({
  kind: 'openai-compatible',
  summary:
    'Asks any model behind the Chat Completions API (OpenAI, vLLM, `evsys serve`, gateways) for several labelled ideas per call.',
  params: openaiParams,
  needs: { network: true, secrets: ['OPENAI_API_KEY'] },
  async propose(brief, { params, signal, random, log, secret }) {
    return proposeByModel(brief, openaiCall(params), { signal, random, log, secret })
  },
})

function openaiCall(params: z.output<typeof openaiParams>) {
  const isOpenai = (params.base_url ?? openaiHost).replace(/\/+$/, '') === openaiHost
  const { key = isOpenai ? 'OPENAI_API_KEY' : 'none' } = params
  const address = { base_url: params.base_url, api_key: key === 'none' ? undefined : `\${secret:${key}}` }
  return {
    ...limits(params, isOpenai ? 'openai' : undefined),
    client: clientSpec(isOpenai ? 'openai' : 'openai_compatible', params, address),
  }
}

type SharedParams = z.output<z.ZodObject<typeof shared>> & { readonly model: string }

// Prompts of this length are the longest that are written.
const longPrompt = 40_000

function limits(params: SharedParams, provider: string | undefined) {
  const { max_tokens, temperature, most_ideas, model } = params
  const price = params.price ?? findPrice(provider, longPrompt, model)
  return { maxTokens: max_tokens, temperature, mostIdeas: most_ideas, price }
}

function clientSpec(kind: string, params: SharedParams, address: Record<string, unknown>): PluginSpec {
  const { model, timeout_s, max_attempts, retry_wait_s, price, extra_body } = params
  const common = { model, timeout_s, max_attempts, retry_wait_s, extra_body, price }
  return { kind, params: { ...common, ...address } }
}
