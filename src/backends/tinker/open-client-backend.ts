// A backend over any service that speaks the training protocol: one model of one client.
import type { LogLevel, OpenBackend, OpenWeights, Tokenizer } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { OnTinkerEvent, TinkerClient } from '../../tinker/index.ts'
import { byteTokenizer } from '../models/mock-models.ts'

export type ClientBackendOptions = {
  client: TinkerClient
  baseModel: string
  loraRank: number | undefined
  seed: number
  /** What stands for the engine of a service that does not tell its own. */
  serviceName: string
  /** Longest sequence, where the service does not tell. */
  maxContext: number | undefined
  openText: (
    arch: string | undefined,
    tokenizerId: string,
  ) => Promise<{ tokenizer: Tokenizer; chatTemplate?: string | undefined }>
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

/** What answers for saved weights, over a model that is never trained. Disposing of it closes that. */
export function weightsOf({ service, ...opened }: OpenBackend): OpenWeights {
  const { tokenizer, chatTemplate, maxContext } = opened
  const sample: OpenWeights['sample'] = (request, signal) => service.sample(request, signal)
  return { sample, tokenizer, chatTemplate, maxContext, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

/** Passes on what a person should know of a connection: words of the service, and that it is waited for. */
export function logEvents(log: (level: LogLevel, text: string) => void): OnTinkerEvent {
  return (event) => {
    if (event.type === 'message') log(event.level === 'warning' ? 'warn' : event.level, event.text)
    if (event.type === 'queue' && event.state !== 'active') {
      log('info', `the service lets requests wait: ${event.reason ?? event.state}`)
    }
    if (event.type !== 'connection') return
    const { url } = event
    if (event.state === 'restored') return log('info', `${url} answers again, after ${secondsText(event.afterMs)}`)
    const more = event.untilMs > 0 ? `; reconnecting for up to ${secondsText(event.untilMs)}` : ''
    log('warn', `no answer from ${url} (${event.message})${more}`)
  }
}

function secondsText(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`
}

/** Longest text that a model of a service takes. */
export async function contextOf(client: TinkerClient, baseModel: string): Promise<number> {
  const { supported_models } = await client.capabilities()
  const length = supported_models.find(({ model_name }) => model_name === baseModel)?.max_context_length
  if (length != null) return length
  throw new EvsysError('BACKEND_FAILED', `the service does not tell how long a text ${baseModel} takes`, {
    fix: 'set max_context in the params of the backend.',
  })
}

// Tokens for a model of a service: those of the mock model, or of the files that its name leads to.
/** How a model writes. */
export type ModelText = { tokenizer: Tokenizer; chatTemplate?: string | undefined }

export async function openModelText(arch: string | undefined, tokenizerId: string): Promise<ModelText> {
  if (arch === 'bigram') return { tokenizer: byteTokenizer }
  const { openTokenizer, readChatTemplate, resolveModelFolder } = await import('../../models/index.ts')
  const name = repositoryOf(tokenizerId)
  try {
    const { folder } = await resolveModelFolder(name, { files: ['tokenizer.json'] })
    const chatTemplate = await readChatTemplate(folder)
    return { tokenizer: await openTokenizer(folder), chatTemplate }
  } catch (cause) {
    if (!EvsysError.is(cause) || cause.code !== 'MODEL_MISSING') throw cause
    throw new EvsysError('MODEL_MISSING', `the tokenizer of the model is not here: ${cause.message}`, {
      cause,
      fix: `download it once: hf download ${name} --include 'tokenizer*' --include '*.jinja'`,
    })
  }
}

/** Cuts what names carry beyond a repository: `name:revision`, `org/model/variant`. */
function repositoryOf(id: string): string {
  const [name = ''] = id.split(':')
  const parts = name.split('/')
  return parts.length === 3 && parts[0] !== '' && parts[0] !== '.' ? parts.slice(0, 2).join('/') : name
}
