import * as z from 'zod'
import { defineInferenceClient } from '../../kernel/index.ts'
import { samplerParams } from './client-params.ts'

/** Samples of a service that speaks the Tinker protocol. */
export const tinkerClient = defineInferenceClient({
  kind: 'tinker',
  summary: 'Base models and trained weights of a service that speaks the Tinker protocol.',
  params: z.strictObject({
    ...samplerParams,
    preset: z.enum(['tinker', 'evsys', 'skyrl', 'tuft']).default('tinker').describe('Which service it is.'),
    base_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address of the service. Default: that of the preset.'),
    api_key: z
      .string()
      .min(1)
      .default('${secret:TINKER_API_KEY}')
      .describe('The key; write it as a reference to a secret.'),
    tokenizer: z
      .string()
      .min(1)
      .optional()
      .describe('Model whose tokenizer is used, or `bytes` for the mock engine. Default: the base model.'),
  }),
  needs: { network: true },
  async open({ params, signal, log }) {
    const { createTinkerClient } = await import('../../tinker/index.ts')
    const { openModelText } = await import('../tinker/open-model-text.ts')
    const { openModelRenderer } = await import('./open-model-renderer.ts')
    const { openSamplerClient } = await import('./open-sampler-client.ts')
    const { model, checkpoint, renderer, base_url: baseUrl, tokenizer = model } = params
    const client = await createTinkerClient({
      preset: params.preset,
      apiKey: params.api_key,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      signal,
    })
    try {
      if (params.price === undefined) log('warn', `no price is known for tinker ${model}: what it costs is unknown`)
      return openSamplerClient({
        model: checkpoint ?? model,
        sampler: await client.sampler(checkpoint === undefined ? { baseModel: model } : { path: checkpoint }),
        renderer: await openModelRenderer(
          renderer,
          await openModelText(tokenizer === 'bytes' ? 'bigram' : undefined, tokenizer),
        ),
        systemPrompt: params.system_prompt,
        price: params.price,
        close: () => client.close('success'),
      })
    } catch (error) {
      await client.close('errored')
      throw error
    }
  },
})
