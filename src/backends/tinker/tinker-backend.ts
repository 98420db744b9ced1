import * as z from 'zod'
import type { OpenWeights } from '../../contracts/index.ts'
import { defineBackend } from '../../kernel/index.ts'
import type { Preset } from '../../tinker/index.ts'

/** That of the official client where none is named: every service takes it. */
const anyRank = 32

const presetNames = ['tinker', 'evsys', 'skyrl', 'tuft', 'fireworks'] as const

/** Trains on a service that speaks the Tinker protocol. */
export const tinkerBackend = defineBackend({
  kind: 'tinker',
  summary:
    'Trains on a service that speaks the Tinker protocol: the hosted one, SkyRL, TuFT, Fireworks or `evsys serve`.',
  params: z.strictObject({
    preset: z.enum(presetNames).default('tinker').describe('Which service it is: services differ in small ways.'),
    base_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address of the service. Default: TINKER_BASE_URL, else that of the preset.'),
    tokenizer: z.string().min(1).optional().describe('Model whose tokenizer is used. Default: what the service names.'),
    max_context: z.int().min(1).optional().describe('Longest sequence, where the service does not tell.'),
    project_id: z.string().min(1).optional().describe('Project that the service books the run under.'),
  }),
  needs: { secrets: ['TINKER_API_KEY'], network: true },
  async open({ params, model, loraRank, seed, signal, stopping, secret, address, log }) {
    const { addressFrom, createTinkerClient, presets } = await import('../../tinker/index.ts')
    const { logEvents, openClientBackend, openModelText } = await import('./open-client-backend.ts')
    const { preset, base_url, tokenizer, max_context: maxContext, project_id: projectId } = params
    const baseUrl = base_url ?? addressFrom(address?.('TINKER_BASE_URL'))
    const client = await createTinkerClient({
      preset,
      baseUrl,
      apiKey: secret('TINKER_API_KEY'),
      signal,
      stopping,
      projectId,
      onEvent: logEvents(log),
    })
    const known: Preset = presets[preset]
    return openClientBackend({
      client,
      baseModel: model.name,
      loraRank,
      seed,
      serviceName: `tinker-${preset}-${new URL(baseUrl ?? known.baseUrl ?? 'http://unknown').host}`,
      maxContext,
      openText: (arch, id) => openModelText(arch, tokenizer ?? id),
    })
  },
  // What stands for the tokens of a model is told of a model alone: one is made, and not trained.
  async openWeights({ runDir, ...context }): Promise<OpenWeights> {
    const { weightsOf } = await import('./open-client-backend.ts')
    return weightsOf(await tinkerBackend.open({ ...context, runDir, loraRank: anyRank, seed: 0 }))
  },
})
