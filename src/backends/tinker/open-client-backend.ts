// A backend over any service that speaks the training protocol: one model of one client.
import type { OpenBackend, Tokenizer } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { TinkerClient } from '../../tinker/index.ts'
import { openModelText } from './open-model-text.ts'

export type ClientBackendOptions = {
  client: TinkerClient
  baseModel: string
  loraRank: number | undefined
  seed: number
  /** What stands for the engine of a service that does not tell its own. */
  serviceName: string
  /** Longest sequence, where the service does not tell. */
  maxContext: number | undefined
  openText: (arch: string | undefined, tokenizerId: string) => Promise<{ tokenizer: Tokenizer; chatTemplate?: string }>
}

/** Makes a model and opens its tokenizer. Disposing of it ends the session. */
export async function openClientBackend(options: ClientBackendOptions): Promise<OpenBackend> {
  const { client, baseModel, loraRank, seed } = options
  try {
    const model = await client.createModel({ baseModel, rank: loraRank ?? 'full', seed })
    const info = await model.info()
    const { arch, tokenizer_id } = info.model_data
    const text = await options.openText(arch ?? undefined, tokenizer_id ?? baseModel)
    return {
      service: client.service,
      modelId: model.modelId,
      engineId: info.engine_id ?? options.serviceName,
      maxContext: info.max_context_length ?? options.maxContext ?? (await contextOf(client, baseModel)),
      ...text,
      tokenizerOf: async (name) => (await openModelText(arch === 'bigram' ? arch : undefined, name)).tokenizer,
      [Symbol.asyncDispose]: () => client.close('success'),
    }
  } catch (error) {
    await client.close('errored')
    throw error
  }
}

async function contextOf(client: TinkerClient, baseModel: string): Promise<number> {
  const { supported_models } = await client.capabilities()
  const length = supported_models.find(({ model_name }) => model_name === baseModel)?.max_context_length
  if (length != null) return length
  throw new EvsysError('BACKEND_FAILED', `the service does not tell how long a text ${baseModel} takes`, {
    fix: 'set max_context in the params of the backend.',
  })
}
