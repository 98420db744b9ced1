// What a provider answered instead of an answer, as an error that says whether to try again.
import { EvsysError, visibleText } from '../../kernel/index.ts'

/** An answer over HTTP that is no answer of the model. */
export interface ProviderRefusal {
  /** Who answered: `anthropic claude-sonnet-4-6`. */
  readonly who: string
  readonly status: number
  readonly headers?: Headers
  readonly text: string
}

const longestWords = 600

/** The error in a reply. 408, 409, 425, 429 and 5xx may go away; everything else is final. */
export function providerError({ who, status, headers, text }: ProviderRefusal): EvsysError {
  const body = parse(text)
  const words = visibleText(wordsIn(body) ?? text)
    .trim()
    .slice(0, longestWords)
  const message = `${who}: ${status}${words === '' ? '' : ` ${words}`}`
  // A spent quota answers 429 as well, and no waiting brings it back.
  const isSpent = /insufficient_quota|billing_hard_limit|credit balance is too low/.test(text)
  if (isTransient(status) && !isSpent) {
    const retryAfterMs = askedMs(headers, text)
    return new EvsysError('INFERENCE_FAILED', message, {
      retryable: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      fix: status === 429 ? 'ask for fewer answers at a time, or try again later.' : 'try again later.',
    })
  }
  return new EvsysError('INFERENCE_REFUSED', message, {
    fix: isSpent ? 'add credit to the account.' : (fixes[status] ?? correct),
  })
}

/** A failure on the way, or a reply that makes no sense and may come out right the next time. */
export function transportError(who: string, what: string, cause?: unknown): EvsysError {
  return new EvsysError('INFERENCE_FAILED', `${who}: ${what}`, {
    retryable: true,
    fix: 'check base_url and the network, or try again later.',
    ...(cause === undefined ? {} : { cause }),
  })
}

/** The error that stands in the body of a reply that calls itself a success. */
export function errorInBody(who: string, body: unknown, text: string): EvsysError | undefined {
  const error = typeof body === 'object' && body !== null ? Reflect.get(body, 'error') : undefined
  if (error === undefined || error === null) return undefined
  const code: unknown = typeof error === 'object' ? Reflect.get(error, 'code') : undefined
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

function isTransient(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || status >= 500
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
