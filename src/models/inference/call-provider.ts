// One call of a provider: the only layer that tries again. Each attempt has its own deadline; a reply is read to its end, within
// bounds, and parsed before it counts.
import type * as z from 'zod'
import type { LogLevel } from '../../contracts/index.ts'
import { type Clock, checkValue, EvsysError, messageOf, retry, systemClock } from '../../kernel/index.ts'
import { errorInBody, providerError, transportError } from './provider-error.ts'

export interface ProviderCall<S extends z.ZodType> {
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
  readonly clock?: Clock
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
    throw transportError(who, `the connection failed: ${reasonOf(cause)}`, cause)
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
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  return messageOf(inner)
}
