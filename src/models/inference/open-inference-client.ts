// A client by its kind, ready to answer: params checked, secrets put in, nothing secret coming out.
import type {
  AddressVariable,
  InferenceClient,
  ModelEntry,
  OpenInferenceClient,
  PluginCard,
  PluginSpec,
} from '../../contracts/index.ts'
import {
  boundary,
  createRedactor,
  EvsysError,
  equipPlugin,
  findSecrets,
  type PluginServices,
  type Redact,
  resolveSecrets,
} from '../../kernel/index.ts'
import { type CassetteSpec, openCassette, withCassette } from './cassette.ts'

export interface OpenClientOptions {
  /** Answers are recorded, or replayed. */
  readonly cassette?: CassetteSpec | undefined
}

/** Where providers are reached, as their own libraries read it. Each is no secret, and may be given where secrets are. */
const addresses = new Map<string, AddressVariable>([
  ['openai', 'OPENAI_BASE_URL'],
  ['anthropic', 'ANTHROPIC_BASE_URL'],
])

function withAddress(spec: PluginSpec, { address, secret }: Pick<PluginServices, 'address' | 'secret'>): PluginSpec {
  const name = addresses.get(spec.kind)
  if (name === undefined || spec.params.base_url !== undefined) return spec
  try {
    return { ...spec, params: { ...spec.params, base_url: address?.(name) ?? secret(name) } }
  } catch {
    return spec // it is not set
  }
}

/** Opens the client that a spec names. Disposing of it closes what it opened. */
export async function openInferenceClient(
  given: PluginSpec,
  services: PluginServices,
  { cassette }: OpenClientOptions = {},
): Promise<OpenInferenceClient> {
  const spec = withAddress(given, services)
  const { plugin, context } = equipPlugin('inference_client', spec, services)
  const params = Object(context.params) as Record<string, unknown> // params of a plugin are an object
  if (cassette === undefined) return openGuarded(plugin, context, services).then(({ client }) => client)
  // Secrets are looked up when something is asked; what is recorded before that holds none.
  let redact = createRedactor()
  const open = async () => {
    const opened = await openGuarded(plugin, context, services)
    redact = opened.redact
    return opened.client
  }
  return withCassette(
    openCassette(cassette, (value) => redact(value)),
    { kind: spec.kind, params },
    open,
  )
}

/** What a client may be given besides its secrets: where its provider is reached. */
export function clientAddresses({ kind, params }: PluginSpec): string[] {
  return params.base_url === undefined ? [addresses.get(kind) ?? []].flat() : []
}

/** Names of the secrets that a client with these params uses: those to hand to the process that opens it. */
export function clientSecrets({ params }: Pick<PluginSpec, 'params'>, card: PluginCard | undefined): string[] {
  const fields: Record<string, unknown> = Object(card?.schema.properties)
  const defaults = Object.entries(fields)
    .filter(([name]) => !(name in params))
    .map(([, field]): unknown => Object(field).default)
  const named = findSecrets([params, defaults]).map(({ name }) => name)
  return [...new Set([...(card?.needs.secrets ?? []), ...named])].sort()
}

type Context = Parameters<InferenceClient['open']>[0]

async function openGuarded(plugin: InferenceClient, context: Context, services: PluginServices) {
  const used: Record<string, string> = {}
  const noting = (secret: (name: string) => string) => (name: string) => {
    const value = secret(name)
    if (value.trim().length >= 4) used[name] = value
    return value
  }
  const get = noting(services.secret)
  const params: unknown = resolveSecrets(context.params, { get, hint: 'in the environment or in .env of the project' })
  const key: unknown = Reflect.get(Object(params), 'api_key')
  const isLiteral = typeof key === 'string' && key.trim().length >= 4 && !Object.values(used).includes(key)
  const redact = createRedactor(isLiteral ? { ...used, api_key: key } : used)
  const { kind } = plugin
  const guard = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await boundary('INFERENCE_FAILED', kind, signal, work)
    } catch (error) {
      throw withoutSecrets(error, redact)
    }
  }
  const opened = await guard(services.signal, () =>
    plugin.open({
      ...context,
      params,
      log: (level, text) => context.log(level, redact(text)),
      secret: noting(context.secret),
    }),
  )
  const client: OpenInferenceClient = {
    takesTools: opened.takesTools,
    generate: (request, signal) => guard(signal, () => opened.generate(request, signal)),
    [Symbol.asyncDispose]: async () => opened[Symbol.asyncDispose]?.(),
  }
  return { client, redact }
}

/** The same error without secrets: a provider may repeat the key that it refuses. */
function withoutSecrets(error: unknown, redact: Redact): unknown {
  if (!EvsysError.is(error)) return error
  const { code, message, where, retryable, retryAfterMs } = error
  const [clean, fix] = [redact(message), redact(error.fix)]
  if (clean === message && fix === error.fix) return error
  return new EvsysError(code, clean, { fix, where, retryable, retryAfterMs })
}

// Models by name alone, as `benchmark.models` and judges write them.
const explicit = /^(anthropic|openai|gemini|tinker|local|mock):(.+)$/s
const families: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(gpt-|chatgpt-|o\d)/, 'openai'],
  [/^gemini-/, 'gemini'],
  [/^evsys\//, 'local'],
]

/**
 * The client for a model that is known by its name: `claude-sonnet-4-6`, `gpt-5`, `gemini-2.5-pro`, `evsys/tiny`, or with its
 * client in front, `openai:my-model`. Any other model needs a client that is written out.
 */
export function modelClient(name: string): PluginSpec {
  const [, kind = families.find(([pattern]) => pattern.test(name))?.[1], model = name] = explicit.exec(name) ?? []
  if (kind !== undefined) return { kind, params: { model } }
  throw new EvsysError('CONFIG_INVALID', `the name "${name}" does not say which client reaches it`, {
    fix: 'put the client in front, as in openai:NAME or anthropic:NAME; another server is written out as { kind: openai_compatible, base_url: ADDRESS, model: NAME }.',
  })
}

/** A model as `models` of a benchmark names it, with the label that people see. */
export function namedModel(entry: ModelEntry): { label: string; client: PluginSpec } {
  if (typeof entry === 'string') return { label: entry, client: modelClient(entry) }
  const { kind, name, params = {}, ...flat } = entry
  const client = { kind, params: { ...params, ...flat } }
  const { model } = client.params
  return { label: name ?? (typeof model === 'string' ? `${kind}:${model}` : kind), client }
}

/** What the answers of a client took together. */
export interface TotalUsage {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Of the calls whose price is known. */
  readonly costUsd: number
  /** Calls whose price is not known: while there are any, `costUsd` is a lower bound. */
  readonly unpriced: number
  /** Calls that were answered from a cassette; they count nowhere else. */
  readonly replayed: number
}

/** A client that adds up what it uses. `onAnswer` receives the total after each answer. */
export function meterUsage(
  client: OpenInferenceClient,
  onAnswer: (total: TotalUsage) => void = () => {},
): { client: OpenInferenceClient; total: () => TotalUsage } {
  let total: TotalUsage = { calls: 0, promptTokens: 0, completionTokens: 0, costUsd: 0, unpriced: 0, replayed: 0 }
  const metered: OpenInferenceClient = {
    takesTools: client.takesTools,
    async generate(request, signal) {
      const answer = await client.generate(request, signal)
      const { promptTokens, completionTokens, costUsd } = answer.usage
      total =
        answer.replayed === true
          ? { ...total, replayed: total.replayed + 1 }
          : {
              calls: total.calls + 1,
              promptTokens: total.promptTokens + promptTokens,
              completionTokens: total.completionTokens + completionTokens,
              costUsd: total.costUsd + (costUsd ?? 0),
              unpriced: total.unpriced + (costUsd === undefined ? 1 : 0),
              replayed: total.replayed,
            }
      onAnswer(total)
      return answer
    },
    [Symbol.asyncDispose]: async () => client[Symbol.asyncDispose]?.(),
  }
  return { client: metered, total: () => total }
}
