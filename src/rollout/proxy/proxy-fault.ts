// What a request is answered with instead of an answer. One list of faults, written in the form of each API: clients know their own
// form alone, and decide by it whether to try again.
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** Everything that can be wrong, with its status in the two families of APIs. */
const faults = {
  malformed: { openai: 400, anthropic: 400 },
  unsupported: { openai: 400, anthropic: 400 },
  context: { openai: 400, anthropic: 400 },
  refused: { openai: 400, anthropic: 400 },
  unauthorized: { openai: 401, anthropic: 401 },
  limit: { openai: 403, anthropic: 403 },
  unknown: { openai: 404, anthropic: 404 },
  method: { openai: 405, anthropic: 405 },
  over: { openai: 410, anthropic: 410 },
  too_large: { openai: 413, anthropic: 413 },
  rate_limited: { openai: 429, anthropic: 429 },
  failed: { openai: 500, anthropic: 500 },
  overloaded: { openai: 503, anthropic: 529 },
} as const
export type FaultKind = keyof typeof faults

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
export type WireFamily = keyof (typeof faults)[FaultKind]

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
  const status = faults[kind][family]
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    // Waiting brings back neither a trial that is over nor a limit.
    'x-should-retry': String(kind === 'rate_limited' || kind === 'overloaded'),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
  }
  if (family === 'anthropic') {
    const body = { type: 'error', error: { type: anthropicTypes[kind], message }, request_id: requestId }
    return Response.json(body, { status, headers })
  }
  const code = kind === 'context' ? 'context_length_exceeded' : kind === 'unauthorized' ? 'invalid_api_key' : kind
  return Response.json({ error: { message, type: openaiTypes[kind], param: null, code } }, { status, headers })
}

const openaiTypes: Record<FaultKind, string> = {
  malformed: 'invalid_request_error',
  unsupported: 'invalid_request_error',
  context: 'invalid_request_error',
  refused: 'invalid_request_error',
  unauthorized: 'authentication_error',
  limit: 'permission_error',
  unknown: 'not_found_error',
  method: 'invalid_request_error',
  over: 'permission_error',
  too_large: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  failed: 'server_error',
  overloaded: 'server_error',
}

const anthropicTypes: Record<FaultKind, string> = {
  ...openaiTypes,
  too_large: 'request_too_large',
  failed: 'api_error',
  overloaded: 'overloaded_error',
}
