// Why a program of an agent failed, told from what it printed, by the names that Harbor gives: retries and statistics go by them.
import { EvsysError } from '../../kernel/index.ts'

const patterns = [
  ['ApiRateLimitError', /rate.?limit|too many requests|\b429\b/],
  ['ApiUsageLimitError', /usage limits?\b|insufficient_quota|quota exceeded|unpaid invoice|credit balance is too low/],
  ['ApiInternalServerError', /\b500 internal server error|internal server error/],
  ['ApiOverloadedError', /overloaded|service ?unavailable|at capacity/],
  ['ApiConnectionClosedError', /connection closed mid-response|stream closed before completion|premature close/],
  ['ApiResponseStalledError', /response stalled mid-stream/],
  ['OutputTokenExceededError', /exceeded .{0,80}output token maximum|max_output_tokens/],
  [
    'ContextWindowExceededError',
    /context_length_exceeded|context window|maximum context length|prompt is too long|input token count exceeds/,
  ],
  ['AgentSafetyRefusalError', /safety measures that flagged|content_filter|flagged for possible/],
  ['AgentAuthenticationError', /not logged in|invalid api key|invalid_api_key|authentication_error|unauthorized/],
  [
    'ModelNotFoundError',
    /cannot use this model|model_not_found|model (?!metadata).{0,80}(not found|does not exist)|issue with the selected model/,
  ],
  ['ApiProviderResourceNotFoundError', /trouble finding the resource you requested/],
  [
    'NetworkConnectionError',
    /econnrefused|econnreset|enotfound|etimedout|could not resolve host|connection refused|ssl.{0,40}error|network is unreachable/,
  ],
  ['UnknownApiError', /\bapi ?error\b/],
] as const

export type AgentExitName = (typeof patterns)[number][0] | 'NonZeroAgentExitCodeError'

/** Whatever an endless program printed before the end says nothing about the end. */
const looksBack = 200_000

/** The name of a failure by the output of the program: the match nearest to the end wins, of equal ones the first in the list. */
export function classifyOutput(output: string): AgentExitName {
  const text = output.slice(-looksBack)
  let best: { name: AgentExitName; end: number } = { name: 'NonZeroAgentExitCodeError', end: -1 }
  for (const [name, pattern] of patterns) {
    for (const found of text.matchAll(new RegExp(pattern, 'gi'))) {
      const end = found.index + found[0].length
      if (end > best.end) best = { name, end }
    }
  }
  return best.name
}

// The model's side failed: not the answer's fault.
const refusals: readonly AgentExitName[] = [
  'AgentAuthenticationError',
  'ModelNotFoundError',
  'ApiProviderResourceNotFoundError',
]
const answers: readonly AgentExitName[] = [
  'NonZeroAgentExitCodeError',
  'OutputTokenExceededError',
  'ContextWindowExceededError',
  'AgentSafetyRefusalError',
]

/** The error of a program that failed; `how` says how it ended. */
export function exitError(how: string, output: string, cause?: unknown): EvsysError {
  const name = classifyOutput(output)
  const code = answers.includes(name)
    ? 'PLUGIN_FAILED'
    : refusals.includes(name)
      ? 'INFERENCE_REFUSED'
      : 'INFERENCE_FAILED'
  const last = output.trim().split('\n').slice(-5).join('\n').slice(-600)
  const message = `${name}: the program of the agent ${how}${last === '' ? '' : `: ${last}`}`
  const error = new EvsysError(code, message, cause === undefined ? {} : { cause })
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}
