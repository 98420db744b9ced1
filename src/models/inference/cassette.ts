import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import {
  type Generated,
  type GenerateRequest,
  type OpenInferenceClient,
  type PluginSpec,
  TokenPrice,
  ToolCall,
} from '../../contracts/index.ts'
import {
  checkValue,
  EvsysError,
  hashOf,
  messageOf,
  type Redact,
  readBoundedText,
  systemCode,
  writeFileAtomic,
} from '../../kernel/index.ts'

/**
 * A client that answers from a cassette. `open` is called when a request has to be sent, so that a replay needs no key and no
 * network. Equal requests that are under way at the same time are sent once.
 */
export function withCassette(
  cassette: Cassette,
  spec: PluginSpec,
  open: () => Promise<OpenInferenceClient>,
): OpenInferenceClient {
  const { mode, keeps = () => true } = cassette
  const client = cassetteClient(spec)
  const underWay = new Map<string, Promise<Generated>>()
  let opened: Promise<OpenInferenceClient> | undefined

  const ask = async (key: string, request: GenerateRequest, signal: AbortSignal): Promise<Generated> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined // the next request may find what was missing
      throw error
    })
    const generated = await (await opened).generate(request, signal)
    if (!keeps(request, generated)) return generated
    await cassette.write({ version: 1, key, client, request: { ...request }, answer: recorded(generated) })
    return generated
  }
  return {
    async generate(request, signal) {
      const key = hashOf({ client, request }) // as canonical JSON, the seed included
      const entry = mode === 'record' ? undefined : await cassette.read(key)
      if (entry !== undefined && keeps(request, entry.answer)) return { ...entry.answer, replayed: true }
      if (mode === 'replay') throw missing(cassette, spec, key)
      const shared = underWay.get(key)
      if (shared !== undefined) {
        return shared.catch((error: unknown) => {
          if (EvsysError.is(error)) throw error
          return ask(key, request, signal) // the first caller cancelled its request
        })
      }
      const asking = ask(key, request, signal).finally(() => underWay.delete(key))
      underWay.set(key, asking)
      return asking
    },
    async [Symbol.asyncDispose]() {
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]?.()
    },
  }
}

function recorded({ toolCalls, replayed: _, tokens: __, ...answer }: Generated): RecordedAnswer {
  return { ...answer, toolCalls: toolCalls === undefined ? undefined : [...toolCalls] }
}

function missing({ folder }: Cassette, { kind, params }: PluginSpec, key: string): EvsysError {
  const who = typeof params.model === 'string' ? `${kind} ${params.model}` : kind
  const message = `${folder} holds no answer of ${who} for this request (${key.slice(0, 12)})`
  return new EvsysError('CASSETTE_MISSING', message, {
    fix: 'record it with the mode `record` or `auto`: the prompt, the model or its params are not those that were recorded.',
  })
}

// A folder of recorded answers, one file for each. Files are whole or not there, so that many processes may share it.
/**
 * `replay`: answers come from the folder alone. `record`: every request is sent, and its answer kept. `auto`: what is there is
 * replayed, what is not is sent and kept.
 */
export type CassetteMode = 'replay' | 'record' | 'auto'

/** Where answers are kept, and what is done with them. */
export interface CassetteSpec {
  readonly folder: string
  readonly mode: CassetteMode
  /** False: the answer is neither kept nor replayed. Absent: every answer is. */
  keeps?: ((request: GenerateRequest, answer: Pick<Generated, 'text' | 'stopReason'>) => boolean) | undefined
}

interface Cassette extends CassetteSpec {
  read(key: string): Promise<CassetteEntry | undefined>
  write(entry: CassetteEntry): Promise<void>
}

/** Opens a cassette. `redact` is applied to all that is written. */
export function openCassette({ folder, mode, keeps }: CassetteSpec, redact: Redact): Cassette {
  const fileOf = (key: string) => join(folder, `${key}.json`)
  return {
    folder,
    mode,
    keeps,
    async read(key) {
      const file = fileOf(key)
      const text = await textOf(file)
      return text === undefined ? undefined : parse(file, text, key)
    },
    async write(entry) {
      await mkdir(folder, { recursive: true })
      const { key } = entry
      await writeFileAtomic(fileOf(key), `${JSON.stringify({ ...redact(entry), key }, null, 2)}\n`)
    },
  }
}

/** Of one answer with its request, images among it. */
const mostBytes = 64_000_000

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readBoundedText(file, mostBytes)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw cause
  }
}

function parse(file: string, text: string, key: string): CassetteEntry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw damaged(file, messageOf(cause))
  }
  const checked = checkValue(CassetteEntry, value)
  if (!checked.ok) {
    const [issue] = checked.issues
    throw damaged(file, [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
  }
  if (checked.value.key !== key) throw damaged(file, 'it belongs to another request')
  return checked.value
}

function damaged(file: string, why: string): EvsysError {
  return new EvsysError('DATA_INVALID', `${file}: the recorded answer cannot be used: ${why}`, {
    fix: 'delete the file and record the answer again.',
  })
}

// One recorded answer: the request it belongs to, without secrets, and what was answered.
const RecordedAnswer = z.strictObject({
  text: z.string(),
  reasoning: z.string().optional(),
  toolCalls: z.array(ToolCall).optional(),
  usage: z.strictObject({
    promptTokens: z.number().min(0),
    completionTokens: z.number().min(0),
    cachedPromptTokens: z.number().min(0).optional(),
    latencyS: z.number().min(0),
    costUsd: z.number().min(0).optional(),
  }),
  stopReason: z.enum(['stop', 'length', 'tool_calls', 'refused']),
  model: z.string().optional(),
  price: TokenPrice.optional(),
})
type RecordedAnswer = z.infer<typeof RecordedAnswer>

const CassetteEntry = z.strictObject({
  version: z.literal(1),
  /** Hash of client and request, which is also the name of the file. */
  key: z.string(),
  client: z.strictObject({ kind: z.string(), params: z.record(z.string(), z.unknown()) }),
  request: z.record(z.string(), z.unknown()),
  answer: RecordedAnswer,
})
type CassetteEntry = z.infer<typeof CassetteEntry>

// What changes how an answer is fetched, and not the answer. Keys and headers may be secrets: they are never part of a cassette.
const incidental = ['api_key', 'timeout_s', 'max_attempts', 'retry_wait_s', 'extra_headers', 'price']

/** A client as a cassette knows it: its kind, and the params that decide its answers. */
function cassetteClient({ kind, params }: PluginSpec): PluginSpec {
  const deciding = Object.entries(params).filter(([name]) => !incidental.includes(name))
  return { kind, params: Object.fromEntries(deciding) }
}
