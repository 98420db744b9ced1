import { resolve } from 'node:path'
import * as z from 'zod'
import { TokenPrice } from '../../contracts/index.ts'
import { defineInferenceClient } from '../../kernel/index.ts'
import { engineKinds } from '../local/engine-kinds.ts'

// What clients of a training service take beside its address.
const samplerParams = {
  model: z.string().min(1).describe('The base model.'),
  checkpoint: z
    .string()
    .startsWith('tinker://')
    .optional()
    .describe('Path of trained weights to sample from; absent: the base model.'),
  renderer: z.string().min(1).optional().describe('Chat renderer; absent: the model’s own template.'),
  system_prompt: z
    .string()
    .min(1)
    .optional()
    .describe('Put before every conversation, ahead of its own system message.'),
  price: TokenPrice.optional().describe('Dollars for a million tokens.'),
}

/** Models on this machine: a trainer process that lives as long as the client. */
export const localClient = defineInferenceClient({
  kind: 'local',
  summary: 'Models on this machine: starts a trainer process and samples from it.',
  params: z.strictObject({
    ...samplerParams,
    engine: z.enum(engineKinds).default('cpu').describe('What computes.'),
    folder: z.string().min(1).default('.evsys').describe('Folder whose `trainer/` holds the trained weights.'),
  }),
  async open({ params, signal, log }) {
    const { startTrainerProcess } = await import('../local/start-trainer-process.ts')
    const { openModelText } = await import('../tinker/open-client-backend.ts')
    const { openModelRenderer } = await import('./sampler-client.ts')
    const { openSamplerClient } = await import('./sampler-client.ts')
    const { createTinkerClient } = await import('../../tinker/index.ts')
    const { model, checkpoint, engine } = params
    const text = await openModelText(engine === 'mock' ? 'bigram' : undefined, model)
    const renderer = await openModelRenderer(params.renderer, text)
    const trainer = await startTrainerProcess({
      engine,
      models: [model],
      runDir: resolve(params.folder),
      signal,
      onNotice: (notice) => log('info', notice),
    })
    try {
      const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: trainer.key, signal })
      return openSamplerClient({
        model: checkpoint ?? model,
        sampler: await client.sampler(checkpoint === undefined ? { baseModel: model } : { path: checkpoint }),
        renderer,
        systemPrompt: params.system_prompt,
        price: params.price ?? { input: 0, output: 0 }, // work on this machine costs nothing
        async close() {
          await client.close('success')
          await trainer[Symbol.asyncDispose]()
        },
      })
    } catch (error) {
      await trainer[Symbol.asyncDispose]()
      throw error
    }
  },
})

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
      .describe('Address of the service. Default: TINKER_BASE_URL, else that of the preset.'),
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
  async open({ params, signal, address, log }) {
    const { addressFrom, createTinkerClient } = await import('../../tinker/index.ts')
    const { logEvents, openModelText } = await import('../tinker/open-client-backend.ts')
    const { openModelRenderer } = await import('./sampler-client.ts')
    const { openSamplerClient } = await import('./sampler-client.ts')
    const { model, checkpoint, renderer, tokenizer = model } = params
    const client = await createTinkerClient({
      preset: params.preset,
      apiKey: params.api_key,
      baseUrl: params.base_url ?? addressFrom(address?.('TINKER_BASE_URL')),
      signal,
      onEvent: logEvents(log),
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
