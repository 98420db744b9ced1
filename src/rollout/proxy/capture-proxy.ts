// The capture proxy: an agent that speaks to OpenAI or Anthropic speaks to the policy of its trial, and every answer is recorded with
// its exact tokens. Each trial has its own address and key; nothing that one sends reaches another.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type * as z from 'zod'
import type { Turn } from '../../contracts/index.ts'
import { checkValue, jsonFault } from '../../kernel/index.ts'
import { CountBody, MessagesBody, messagesRequest, messagesResponse } from './anthropic-messages.ts'
import { ChatBody, chatRequest, chatResponse } from './openai-chat.ts'
import { ResponsesBody, responseId, responsesRequest, responsesResponse } from './openai-responses.ts'
import { faultOf, faultResponse, ProxyFault, type WireFamily } from './proxy-fault.ts'
import { messageCalls, messageContent } from './proxy-request.ts'
import { ProxySession, type ProxySessionOptions, type ProxyStats } from './proxy-session.ts'

export interface OpenProxySession extends Disposable {
  /** Path of its address: `/t/<id>`. Clients of OpenAI add `/v1`. */
  readonly path: string
  readonly key: string
  readonly turns: readonly Turn[]
  readonly stats: ProxyStats
  /** What the policy failed with last. */
  readonly failure: unknown
}

export interface CaptureProxy {
  open(trial: ProxySessionOptions): OpenProxySession
  fetch(request: Request): Promise<Response>
}

export interface CaptureProxyOptions {
  /** Largest body of a request; default 32 MiB. */
  readonly maxBodyBytes?: number | undefined
}

type Entry = { readonly trial: ProxySession; readonly keyDigest: Buffer }

export function createCaptureProxy({ maxBodyBytes = 32 * 2 ** 20 }: CaptureProxyOptions = {}): CaptureProxy {
  const trials = new Map<string, Entry>()
  return {
    open(options) {
      const id = randomBytes(9).toString('base64url')
      const key = `evsys-${randomBytes(24).toString('base64url')}`
      const trial = new ProxySession(options)
      trials.set(id, { trial, keyDigest: digest(key) })
      return {
        path: `/t/${id}`,
        key,
        get turns() {
          return trial.turns
        },
        get stats() {
          return trial.stats
        },
        get failure() {
          return trial.failure
        },
        [Symbol.dispose]: () => trial.end(),
      }
    },
    async fetch(request) {
      const [, id = '', route = ''] = /^\/t\/([\w-]{1,64})(\/.*)$/.exec(new URL(request.url).pathname) ?? []
      const family: WireFamily = route.startsWith('/v1/messages') ? 'anthropic' : 'openai'
      try {
        const { trial } = admitted(trials.get(id), request)
        return await answer(trial, request, route, maxBodyBytes)
      } catch (error) {
        return faultResponse(faultOf(error), family, `req_${randomBytes(9).toString('base64url')}`)
      }
    },
  }
}

async function answer(trial: ProxySession, request: Request, route: string, maxBytes: number): Promise<Response> {
  const { signal } = request
  const isGet = route === '/v1/models' || route.startsWith('/v1/models/')
  if (request.method !== (isGet ? 'GET' : 'POST')) {
    throw new ProxyFault('method', `${route} takes ${isGet ? 'GET' : 'POST'} alone`)
  }
  switch (route) {
    case '/v1/chat/completions': {
      const body = await readJsonBody(request, ChatBody, maxBytes)
      return chatResponse(await trial.answer(chatRequest(body), signal), body)
    }
    case '/v1/responses': {
      const body = await readJsonBody(request, ResponsesBody, maxBytes)
      const before = body.previous_response_id == null ? [] : trial.conversation(body.previous_response_id)
      if (before === undefined) throw new ProxyFault('unknown', `no response has the id ${body.previous_response_id}`)
      const asked = responsesRequest(body, before)
      const given = await trial.answer(asked, signal)
      const turn = trial.turns.at(-1)
      if (turn !== undefined) {
        const content = messageContent(given.generated, given.calls)
        const said = { role: 'assistant' as const, content, tool_calls: messageCalls(given.calls) }
        trial.keep(responseId(given), [...asked.messages, said])
      }
      return responsesResponse(given, body)
    }
    case '/v1/messages': {
      const body = await readJsonBody(request, MessagesBody, maxBytes)
      return messagesResponse(await trial.answer(messagesRequest(body), signal), body)
    }
    case '/v1/messages/count_tokens': {
      const body = await readJsonBody(request, CountBody, maxBytes)
      return Response.json({ input_tokens: trial.countTokens(messagesRequest(body)) })
    }
    case '/v1/models':
      return Response.json({ object: 'list', data: [modelCard(trial.model)], has_more: false })
  }
  // Whatever a client calls its model, it is this one.
  if (isGet) return Response.json(modelCard(decodeURIComponent(route.slice('/v1/models/'.length))))
  throw new ProxyFault('unknown', `there is no ${route} here`)
}

// Both families read it.
function modelCard(id: string) {
  const shared = { id, object: 'model', created: 0, owned_by: 'evsys' }
  return { ...shared, type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

// Without the key of this trial nothing is revealed about it, not even that it is over.
function admitted(entry: Entry | undefined, request: Request): Entry {
  const given = keyOf(request)
  if (given === undefined) throw new ProxyFault('unauthorized', 'send the key of the trial as Bearer or x-api-key')
  const isRight = timingSafeEqual(digest(given), entry?.keyDigest ?? digest(''))
  if (entry === undefined || !isRight) throw new ProxyFault('unauthorized', 'the key is not the one of this trial')
  if (entry.trial.isOver) throw new ProxyFault('over', 'the trial is over')
  return entry
}

function keyOf(request: Request): string | undefined {
  const own = request.headers.get('x-api-key') ?? ''
  const bearer = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return own === '' ? bearer : own
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The body of a request as its schema gives it. Larger ones are refused before they are held. */
async function readJsonBody<S extends z.ZodType>(request: Request, schema: S, maxBytes: number): Promise<z.output<S>> {
  const text = await readText(request, maxBytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ProxyFault('malformed', `the body is no JSON: ${jsonFault(text)?.reason ?? 'it is empty'}`)
  }
  const checked = checkValue(schema, value)
  if (checked.ok) return checked.value
  const words = checked.issues
    .slice(0, 5)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
  throw new ProxyFault('malformed', words.join('; '))
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => new ProxyFault('too_large', `the body is larger than ${maxBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.length
    if (size > maxBytes) throw tooLarge()
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}
