// Work that may take so long and no longer. Foreign code that does not listen to its signal is abandoned after a grace period: its
// caller revokes what it was given.
import { onAbort } from '../../kernel/index.ts'
import type { LoadedTask, TaskPart } from '../task/loaded-task.ts'
import type { TrialConfig } from './trial-config.ts'

/** How long aborted work has to come to an end. */
const GRACE_MS = 5_000
// setTimeout takes 31 bits and turns anything longer into 1 ms.
const LONGEST_MS = 2 ** 31 - 1

interface DeadlineOptions {
  /** Absent: no separate limit. */
  readonly timeoutMs?: number | undefined
  /** What the work is aborted with at the end of its time. */
  timeout(): Error
  readonly signal: AbortSignal
  readonly graceMs?: number | undefined
}

/** How work ended. `stopped`: it was aborted, by its deadline or by the caller, and why; `value` may be there all the same. */
interface Settled<T> {
  readonly value?: T | undefined
  readonly error?: unknown
  readonly stopped?: unknown
  /** It did not end within the grace. */
  readonly abandoned?: true | undefined
}

/** Never rejects. */
export async function settleWithDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: DeadlineOptions,
): Promise<Settled<T>> {
  const { timeoutMs, timeout, signal, graceMs = GRACE_MS } = options
  if (signal.aborted) return { stopped: signal.reason }
  const controller = new AbortController()
  const timer =
    timeoutMs === undefined || timeoutMs > LONGEST_MS
      ? undefined
      : setTimeout(() => controller.abort(timeout()), timeoutMs)
  const stopListening = onAbort(signal, () => controller.abort(signal.reason))
  let graceTimer: NodeJS.Timeout | undefined
  const abandoned = new Promise<{ abandoned: true }>((resolve) => {
    onAbort(controller.signal, () => {
      graceTimer = setTimeout(() => resolve({ abandoned: true }), graceMs)
    })
  })
  const working: Promise<Settled<T>> = (async () => ({ value: await work(controller.signal) }))().catch(
    (error: unknown) => ({ error }),
  )
  try {
    const ended = await Promise.race([working, abandoned])
    return controller.signal.aborted ? { ...ended, stopped: controller.signal.reason } : ended
  } finally {
    clearTimeout(timer)
    clearTimeout(graceTimer)
    stopListening()
  }
}

/** The value, or the failure: being stopped outranks what the work made of it. */
export async function withDeadline<T>(work: (signal: AbortSignal) => Promise<T>, options: DeadlineOptions): Promise<T> {
  const settled = await settleWithDeadline(work, options)
  if (settled.stopped !== undefined) throw settled.stopped
  if (!('value' in settled)) throw settled.error
  return settled.value as T // `value` is there, be it undefined
}

// How long each phase of a trial may take: `min(base, max) x (specific multiplier, else the general one)`.

/** In Harbor an agent's setup has six minutes. */
const SETUP_SEC = 360

/** Limits in milliseconds; absent: none. */
interface PhaseLimits {
  readonly environmentMs: number
  readonly agentSetupMs: number
  readonly agentMs?: number | undefined
  readonly verifierMs: number
}

export function phaseLimits(
  config: TrialConfig,
  task: Pick<LoadedTask, 'config'>,
  part: Pick<TaskPart, 'agent' | 'verification'>,
): PhaseLimits {
  const { agent, verifier } = config
  // A cap holds also where the task names no limit.
  const agentSec = set(agent.override_timeout_sec) ?? part.agent.timeout_sec ?? set(agent.max_timeout_sec)
  const verifierSec = set(verifier.override_timeout_sec) ?? part.verification.timeoutSec
  const ms = (baseSec: number, maxSec: number | undefined, specific: number | undefined) =>
    Math.min(baseSec, set(maxSec) ?? Number.POSITIVE_INFINITY) * (specific ?? config.timeout_multiplier) * 1000
  const environmentSec = task.config.environment.build_timeout_sec
  const setupSec = set(agent.override_setup_timeout_sec) ?? SETUP_SEC
  return {
    environmentMs: ms(environmentSec, undefined, config.environment_build_timeout_multiplier),
    agentSetupMs: ms(setupSec, undefined, config.agent_setup_timeout_multiplier),
    agentMs: agentSec === undefined ? undefined : ms(agentSec, agent.max_timeout_sec, config.agent_timeout_multiplier),
    verifierMs: ms(verifierSec, verifier.max_timeout_sec, config.verifier_timeout_multiplier),
  }
}

/** 0 and absent are both "not set". */
export function set(value: number | undefined): number | undefined {
  return value === undefined || value === 0 ? undefined : value
}
