import type { Generated, GenerateRequest, OpenInferenceClient, PluginSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { RecordedAnswer } from './cassette-entry.ts'
import { cassetteClient, cassetteKey } from './cassette-key.ts'
import type { Cassette } from './open-cassette.ts'

/**
 * A client that answers from a cassette. `open` is called when something has to be asked, so that a replay needs no key and no
 * network. Equal requests that are under way at the same time are asked once.
 */
export function withCassette(
  cassette: Cassette,
  spec: PluginSpec,
  open: () => Promise<OpenInferenceClient>,
): OpenInferenceClient {
  const { mode } = cassette
  const client = cassetteClient(spec)
  const underWay = new Map<string, Promise<Generated>>()
  let opened: Promise<OpenInferenceClient> | undefined

  const ask = async (key: string, request: GenerateRequest, signal: AbortSignal): Promise<Generated> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined // the next request may find what was missing
      throw error
    })
    const { tokens, ...answer } = await (await opened).generate(request, signal)
    await cassette.write({ version: 1, key, client, request: { ...request }, answer: recorded(answer) })
    return { ...answer, ...(tokens === undefined ? {} : { tokens }) }
  }
  return {
    async generate(request, signal) {
      const key = cassetteKey(client, request)
      const entry = mode === 'record' ? undefined : await cassette.read(key)
      if (entry !== undefined) return { ...definedFields(entry.answer), replayed: true }
      if (mode === 'replay') throw missing(cassette, spec, key)
      const shared = underWay.get(key)
      if (shared !== undefined) {
        return shared.catch((error: unknown) => {
          if (EvsysError.is(error)) throw error
          return ask(key, request, signal) // whoever asked first no longer wants the answer
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

function recorded({ toolCalls, replayed: _replayed, ...answer }: Omit<Generated, 'tokens'>): RecordedAnswer {
  return { ...answer, ...(toolCalls === undefined ? {} : { toolCalls: [...toolCalls] }) }
}

// An optional field of a schema may be undefined; one of the contract is there or not.
function definedFields(answer: RecordedAnswer): Generated {
  const { text, stopReason, usage, reasoning, toolCalls, model, price } = answer
  const { promptTokens, completionTokens, latencyS, cachedPromptTokens, costUsd } = usage
  return {
    text,
    stopReason,
    usage: {
      ...{ promptTokens, completionTokens, latencyS },
      ...(cachedPromptTokens === undefined ? {} : { cachedPromptTokens }),
      ...(costUsd === undefined ? {} : { costUsd }),
    },
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(model === undefined ? {} : { model }),
    ...(price === undefined ? {} : { price }),
  }
}

function missing({ folder }: Cassette, { kind, params }: PluginSpec, key: string): EvsysError {
  const model = typeof params.model === 'string' ? ` ${params.model}` : ''
  return new EvsysError(
    'CASSETTE_MISSING',
    `${folder} holds no answer of ${kind}${model} for this request (${key.slice(0, 12)})`,
    {
      fix: 'record it with the mode `record` or `auto`: the prompt, the model or its params are not those that were recorded.',
    },
  )
}
