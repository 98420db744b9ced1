// What a request is answered with instead of an answer. One list of faults, written in the form of each API: clients know their own
// form alone, and decide by it whether to try again.
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** Everything that can be wrong: its status, and its type in the words of OpenAI. */
const faults = {
  malformed: { status: 400, type: 'invalid_request_error' },
  unsupported: { status: 400, type: 'invalid_request_error' },
  context: { status: 400, type: 'invalid_request_error' },
  refused: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  limit: { status: 403, type: 'permission_error' },
  unknown: { status: 404, type: 'not_found_error' },
  method: { status: 405, type: 'invalid_request_error' },
  over: { status: 410, type: 'permission_error' },
  too_large: { status: 413, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  failed: { status: 500, type: 'server_error' },
  overloaded: { status: 503, type: 'server_error' },
} as const
type FaultKind = keyof typeof faults

/** Where Anthropic has other words, or another status. */
const ofAnthropic: Partial<Record<FaultKind, { readonly status: number; readonly type: string }>> = {
  too_large: { status: 413, type: 'request_too_large' },
  failed: { status: 500, type: 'api_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
}

export class ProxyFault extends Error {
  readonly kind: FaultKind
  readonly retryAfterS: number | undefined

  constructor(kind: FaultKind, message: string, retryAfterS?: number) {
    super(message)
    this.name = 'ProxyFault'
    this.kind = kind
    this.retryAfterS = retryAfterS
  }
}

/** Which family of APIs a path belongs to. */
export type WireFamily = 'openai' | 'anthropic'

/** An error of the model or of ours, as a fault. Details of our own failures stay here. */
export function faultOf(error: unknown): ProxyFault {
  if (error instanceof ProxyFault) return error
  if (!EvsysError.is(error)) return new ProxyFault('failed', 'the model could not answer')
  const { code, retryable, retryAfterMs } = error
  const message = messageOf(error)
  const afterS = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000)
  if (/context|too long/.test(message) && (code === 'BUDGET_EXCEEDED' || code.endsWith('_REFUSED'))) {
    return new ProxyFault('context', message)
  }
  if (code === 'BUDGET_EXCEEDED') return new ProxyFault('limit', message)
  if (code.endsWith('_REFUSED') || code === 'DATA_INVALID') return new ProxyFault('refused', message)
  if (code === 'INTERRUPTED') return new ProxyFault('over', message)
  // Provider errors begin with who answered and the status: `anthropic claude-x: 529 overloaded`.
  const status = /: (\d{3})\b/.exec(message)?.[1]
  if (status === '429') return new ProxyFault('rate_limited', message, afterS)
  if (retryable || status === '503' || status === '529') return new ProxyFault('overloaded', message, afterS)
  return new ProxyFault('failed', message)
}

/** A fault as the answer that clients of the family understand. */
export function faultResponse(fault: ProxyFault, family: WireFamily, requestId: string): Response {
  const { kind, message, retryAfterS } = fault
  const { status, type } = (family === 'anthropic' ? ofAnthropic[kind] : undefined) ?? faults[kind]
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    // Waiting brings back neither a trial that is over nor a limit.
    'x-should-retry': String(kind === 'rate_limited' || kind === 'overloaded'),
  }
  if (retryAfterS !== undefined) headers['retry-after'] = String(retryAfterS)
  if (family === 'anthropic') {
    const body = { type: 'error', error: { type, message }, request_id: requestId }
    return Response.json(body, { status, headers })
  }
  const code = kind === 'context' ? 'context_length_exceeded' : kind === 'unauthorized' ? 'invalid_api_key' : kind
  return Response.json({ error: { message, type, param: null, code } }, { status, headers })
}
