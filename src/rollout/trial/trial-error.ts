// Failures of trials. Harbor's names are what retry filters and statistics go by; our code and `infra` say what they mean for a score:
// a failure of the answer counts as one, a failure of the machinery is repeated and leaves the score open.
import { type ErrorCode, RolloutError } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'

interface Meaning {
  readonly code: ErrorCode
  readonly infra: boolean
}

const meanings = {
  EnvironmentStartTimeoutError: { code: 'ENVIRONMENT_FAILED', infra: true },
  HealthcheckError: { code: 'ENVIRONMENT_FAILED', infra: true },
  SandboxBuildFailedError: { code: 'ENVIRONMENT_FAILED', infra: true },
  ServiceOperationsUnsupportedError: { code: 'ENVIRONMENT_FAILED', infra: true },
  StepSetupError: { code: 'ENVIRONMENT_FAILED', infra: true },
  AgentSetupTimeoutError: { code: 'AGENT_FAILED', infra: true },
  AgentTimeoutError: { code: 'AGENT_TIMEOUT', infra: false },
  EnvironmentWreckedError: { code: 'AGENT_FAILED', infra: false },
  NonZeroAgentExitCodeError: { code: 'AGENT_FAILED', infra: false },
  AgentAuthenticationError: { code: 'INFERENCE_REFUSED', infra: true },
  ModelNotFoundError: { code: 'INFERENCE_REFUSED', infra: true },
  NetworkConnectionError: { code: 'INFERENCE_FAILED', infra: true },
  ApiError: { code: 'INFERENCE_FAILED', infra: true },
  ApiRateLimitError: { code: 'INFERENCE_FAILED', infra: true },
  ApiUsageLimitError: { code: 'INFERENCE_FAILED', infra: true },
  ApiInternalServerError: { code: 'INFERENCE_FAILED', infra: true },
  ApiOverloadedError: { code: 'INFERENCE_FAILED', infra: true },
  ApiConnectionClosedError: { code: 'INFERENCE_FAILED', infra: true },
  ApiResponseStalledError: { code: 'INFERENCE_FAILED', infra: true },
  ApiProviderResourceNotFoundError: { code: 'INFERENCE_REFUSED', infra: true },
  UnknownApiError: { code: 'INFERENCE_FAILED', infra: true },
  OutputTokenExceededError: { code: 'AGENT_FAILED', infra: false },
  ContextWindowExceededError: { code: 'AGENT_FAILED', infra: false },
  ContextLengthExceededError: { code: 'AGENT_FAILED', infra: false },
  OutputLengthExceededError: { code: 'AGENT_FAILED', infra: false },
  AgentSafetyRefusalError: { code: 'AGENT_FAILED', infra: false },
  AddTestsDirError: { code: 'VERIFIER_FAILED', infra: true },
  DownloadVerifierDirError: { code: 'VERIFIER_FAILED', infra: true },
  VerifierTimeoutError: { code: 'VERIFIER_FAILED', infra: true },
  RewardFileNotFoundError: { code: 'VERIFIER_FAILED', infra: true },
  RewardFileEmptyError: { code: 'REWARD_INVALID', infra: true },
  VerifierOutputParseError: { code: 'REWARD_INVALID', infra: true },
  TrialTimeoutError: { code: 'TRIAL_TIMEOUT', infra: true },
  CancelledError: { code: 'INTERRUPTED', infra: true },
} as const satisfies Record<string, Meaning>

export type ExceptionName = keyof typeof meanings

/** Failures of the agent's program and of the model behind it: what was reached is verified all the same. */
const agentExits: readonly string[] = [
  'NonZeroAgentExitCodeError',
  'OutputTokenExceededError',
  'ContextWindowExceededError',
  'ContextLengthExceededError',
  'OutputLengthExceededError',
  'AgentSafetyRefusalError',
] satisfies ExceptionName[]

/** An error with one of Harbor's names. */
export function trialError(name: ExceptionName, message: string, options: { cause?: unknown } = {}): EvsysError {
  const error = new EvsysError(meanings[name].code, message, options)
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}

/** The name of a failure. Errors of ours without one are named after their code, those of plugins after their class. */
export function exceptionName(error: unknown): string {
  const reported = RolloutError.safeParse(error).data
  const name: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'name') : undefined
  if (reported !== undefined) return nameOf(reported)
  if (EvsysError.is(error) && (name === 'EvsysError' || typeof name !== 'string')) return nameOf(error)
  return typeof name === 'string' && /^[A-Za-z]\w{0,80}$/.test(name) && name !== 'Error' ? name : 'RuntimeError'
}

// Agents outside of this process put a name in front of their message.
function nameOf({ code, message }: { code: ErrorCode; message: string }): string {
  const reported = /^([A-Z]\w{2,60}Error): /.exec(message)?.[1]
  return reported !== undefined && Object.hasOwn(meanings, reported) ? reported : (byCode[code] ?? 'RuntimeError')
}

/** Whether what the agent reached is verified after this failure of its phase. */
export function isVerifiedAfter(error: unknown): boolean {
  const name = exceptionName(error)
  return name === 'AgentTimeoutError' || agentExits.includes(name)
}

/** A failure as the record holds it. */
export function rolloutError(error: unknown): RolloutError {
  const reported = RolloutError.safeParse(error).data
  if (reported !== undefined) return reported
  const named = rolloutErrorNamed(exceptionName(error), messageOf(error))
  if (!EvsysError.is(error)) return named
  return { ...error.toRecord(), infra: named.infra }
}

/** The same for a failure of which the name and the message are left. */
export function rolloutErrorNamed(name: string, message: string): RolloutError {
  const known: Record<string, Meaning> = meanings
  const { code, infra } = (Object.hasOwn(known, name) ? known[name] : undefined) ?? {
    code: 'AGENT_FAILED',
    infra: true,
  }
  return { code, message, infra }
}

const byCode: Partial<Record<ErrorCode, string>> = {
  INFERENCE_FAILED: 'ApiError',
  INFERENCE_REFUSED: 'ApiError',
  SANDBOX_MISSING: 'SandboxBuildFailedError',
  ENVIRONMENT_FAILED: 'SandboxBuildFailedError',
  AGENT_TIMEOUT: 'AgentTimeoutError',
  INTERRUPTED: 'CancelledError',
  ENVIRONMENT_REFUSED: 'ValueError',
  CONFIG_INVALID: 'ValueError',
  CONFIG_CONFLICT: 'ValueError',
  DATA_INVALID: 'ValueError',
  PLUGIN_PARAMS: 'ValueError',
  PLUGIN_UNKNOWN: 'ValueError',
}
