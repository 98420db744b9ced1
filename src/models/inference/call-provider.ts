// One call of a provider: the only layer that tries again. Each attempt has its own deadline; a reply is read to its end, within
// bounds, and parsed before it counts.
import type * as z from 'zod'
import type { LogLevel } from '../../contracts/index.ts'
import { type Clock, checkValue, EvsysError, messageOf, retry, systemClock, visibleText } from '../../kernel/index.ts'

interface ProviderCall<S extends z.ZodType> {
  /** For people: who is called. */
  readonly who: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** What an answer looks like. */
  readonly answer: S
  readonly timeoutMs: number
  readonly attempts: number
  /** Before the second attempt; doubled before each further one. */
  readonly waitMs: number
  readonly random: { float(): number }
  readonly log: (level: LogLevel, text: string) => void
  readonly clock?: Clock | undefined
}

const longestReply = 64 * 2 ** 20

/** The parsed answer, and how long the attempt took that gave it. */
export async function callProvider<S extends z.ZodType>(
  call: ProviderCall<S>,
  signal: AbortSignal,
): Promise<{ answer: z.output<S>; latencyS: number }> {
  const { who, attempts, waitMs: baseMs, random, log, clock = systemClock } = call
  const json = JSON.stringify(call.body)
  return retry(() => attempt(call, json, signal), {
    signal,
    attempts,
    random,
    clock,
    baseMs,
    onRetry: ({ attempt: number, waitMs, error }) =>
      log('warn', `${who}: attempt ${number} of ${attempts} failed, the next one in ${waitMs} ms: ${messageOf(error)}`),
  })
}

async function attempt<S extends z.ZodType>(
  { who, url, headers, answer, timeoutMs, clock = systemClock }: ProviderCall<S>,
  json: string,
  signal: AbortSignal,
): Promise<{ answer: z.output<S>; latencyS: number }> {
  const startedMs = clock.now()
  const deadline = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: json,
      redirect: 'error', // the key goes to the address that was given, and to no other
      signal: AbortSignal.any([signal, deadline]),
    })
    text = await readText(response, who)
  } catch (cause) {
    signal.throwIfAborted()
    if (EvsysError.is(cause)) throw cause
    if (deadline.aborted) throw transportError(who, `no whole answer within ${timeoutMs / 1000} s`, cause)
    throw transportError(who, `the connection to ${new URL(url).origin} failed: ${reasonOf(cause)}`, cause)
  }
  if (!response.ok) throw providerError({ who, status: response.status, headers: response.headers, text })
  const latencyS = Math.max(0, clock.now() - startedMs) / 1000
  return { answer: parseAnswer(who, text, answer), latencyS }
}

function parseAnswer<S extends z.ZodType>(who: string, text: string, schema: S): z.output<S> {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw transportError(who, `the answer is not whole JSON: ${messageOf(cause)}`, cause)
  }
  const failure = errorInBody(who, body, text)
  if (failure !== undefined) throw failure
  const checked = checkValue(schema, body)
  if (checked.ok) return checked.value
  const faults = checked.issues
    .slice(0, 3)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
  throw new EvsysError('INFERENCE_FAILED', `${who}: the answer is not of the expected form: ${faults.join('; ')}`, {
    fix: 'check that base_url leads to an API of this kind.',
  })
}

async function readText(response: Response, who: string): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > longestReply)
      throw new EvsysError('INFERENCE_FAILED', `${who}: the answer is longer than ${longestReply} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

// The words of fetch say nothing; its cause does.
function reasonOf(cause: unknown): string {
  return messageOf(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause)
}

// What a provider answered instead of an answer, as an error that says whether to try again.
type ProviderRefusal = { who: string; status: number; headers?: Headers | undefined; text: string }

const longestWords = 600

/** The error in a reply. 408, 409, 425, 429 and 5xx may go away; everything else is final. */
function providerError({ who, status, headers, text }: ProviderRefusal): EvsysError {
  const words = visibleText(wordsIn(parse(text)) ?? text).trim()
  const message = `${who}: ${status}${words === '' ? '' : ` ${words.slice(0, longestWords)}`}`
  // A spent quota answers 429 as well, and no waiting brings it back.
  const isSpent = /insufficient_quota|billing_hard_limit|credit balance is too low/.test(text)
  const isTransient = [408, 409, 425, 429].includes(status) || status >= 500
  if (isTransient && !isSpent) {
    const fix = status === 429 ? 'ask for fewer answers at a time, or try again later.' : 'try again later.'
    return new EvsysError('INFERENCE_FAILED', message, { retryable: true, retryAfterMs: askedMs(headers, text), fix })
  }
  return new EvsysError('INFERENCE_REFUSED', message, {
    fix: isSpent ? 'add credit to the account.' : (fixes[status] ?? correct),
  })
}

/** A failure on the way, or a reply that makes no sense and may come out right the next time. */
function transportError(who: string, what: string, cause?: unknown): EvsysError {
  return new EvsysError('INFERENCE_FAILED', `${who}: ${what}`, {
    retryable: true,
    fix: 'check base_url and the network, or try again later.',
    cause,
  })
}

/** The error that stands in the body of a reply that calls itself a success. */
function errorInBody(who: string, body: unknown, text: string): EvsysError | undefined {
  const { error }: Record<string, unknown> = Object(body)
  if (error === undefined || error === null) return undefined
  const { code }: Record<string, unknown> = Object(error)
  return providerError({ who, status: typeof code === 'number' && code >= 400 && code < 600 ? code : 500, text })
}

const correct = 'correct the request: the provider says above what is wrong.'
const fixes: Readonly<Record<number, string>> = {
  400: 'correct the request; a field that the model does not take is listed under `omit`.',
  401: 'check the API key: it is missing, wrong or no longer valid.',
  402: 'add credit to the account.',
  403: 'check what the API key is allowed to use.',
  404: 'check the name of the model and base_url.',
  413: 'shorten the conversation.',
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wordsIn(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (Array.isArray(body)) return wordsIn(body[0])
  if (typeof body !== 'object' || body === null) return undefined
  for (const key of ['error', 'message', 'detail']) {
    const words = wordsIn(Reflect.get(body, key))
    if (words !== undefined) return words
  }
  return undefined
}

// Google asks in the body: "retryDelay": "37s".
function askedMs(headers: Headers | undefined, text: string): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  const after = headers?.get('retry-after') ?? /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1] ?? ''
  const asked = /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return asked >= 0 ? asked : undefined
}
