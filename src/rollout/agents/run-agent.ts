// One attempt of an agent at a task, up to where a verifier looks at it. Whatever becomes of the agent, its turns are there: it
// may fail, run into a limit, never return, or be cancelled.
import type {
  HarborTask,
  OpenEnvironment,
  OpenInferenceClient,
  PluginSpec,
  RolloutError,
  Sampling,
  TaskFolder,
  Turn,
  Usage,
} from '../../contracts/index.ts'
import {
  type EquippedPlugin,
  EvsysError,
  equipPlugin,
  errorRecord,
  findSecrets,
  messageOf,
  onAbort,
  type PluginServices,
  problemsOf,
  resolveSecrets,
  toRecord,
} from '../../kernel/index.ts'
import type { RolloutLimit } from '../policy/limit-reached.ts'
import { withTokenSession } from '../policy/token-policy.ts'
import { LimitParams } from './conversation.ts'
import { recordTurns, type TurnRecord } from './record-turns.ts'

export interface AgentRun {
  readonly agent: PluginSpec
  /** Who finds the agent and what its context is made of. `random` is that of this attempt: equal paths give equal draws. */
  readonly services: Omit<PluginServices, 'signal'>
  readonly task: HarborTask
  /** Answers for whatever is trained or compared. */
  readonly policy: OpenInferenceClient
  readonly sampling: Sampling
  /** Absent: 100. */
  readonly maxTurns?: number | undefined
  /** Completion tokens of all turns together; absent: no limit. */
  readonly maxTotalTokens?: number | undefined
  /** The agent is cut off after this time, and what it did is kept. Absent: never. */
  readonly timeoutMs?: number | undefined
  readonly environment?: OpenEnvironment | undefined
  readonly folder?: TaskFolder | undefined
  readonly logsDir?: string | undefined
  /** Cancels it: the turns so far are kept. */
  readonly signal: AbortSignal
}

export interface AgentOutcome {
  /** `timeout`: our deadline. `cancelled`: the caller's signal. A limit of turns or tokens ends it as `done`. */
  readonly ended: 'done' | 'failed' | 'timeout' | 'cancelled'
  readonly turns: readonly Turn[]
  /** What the agent says its result is; of an agent that was cut off, its last words. Absent: it said nothing. */
  readonly output?: string | undefined
  /** What turns earned by themselves, where the agent reports it. */
  readonly turnRewards?: readonly number[] | undefined
  readonly truncated?: RolloutLimit | undefined
  readonly usage: Usage
  readonly error?: RolloutError | undefined
}

const defaultMaxTurns = 100

/** What an aborted agent may take to clean up. */
const GRACE_MS = 250

/** Never rejects: what goes wrong is part of the outcome, and siblings continue. */
export async function runAgent(run: AgentRun): Promise<AgentOutcome> {
  const { signal } = run
  const stopping = new AbortController()
  const equipped = equip(run, stopping.signal)
  if ('error' in equipped) return { ended: 'failed', turns: [], usage: nothing, error: equipped.error }
  const limits = limitsOf(run, equipped.context.params)
  const { timeoutMs } = limits
  const stopListening = onAbort(signal, () => stopping.abort(signal.reason))
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => stopping.abort(late(run, limits)), timeoutMs)
  const record = recordTurns(withTokenSession(run.policy), limits, stopping.signal)
  try {
    const end = await untilStopped(() => start(run, equipped, record, limits.maxTurns), stopping.signal)
    record.close()
    return outcomeOf(run, record, end, { stopped: stopping.signal, limits })
  } finally {
    clearTimeout(deadline)
    stopListening()
    stopping.abort(new EvsysError('INTERRUPTED', 'the rollout is over'))
  }
}

const nothing: Usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }

// A spec that cannot be used is not the answer's fault.
function equip({ agent, services }: AgentRun, signal: AbortSignal): EquippedPlugin<'agent'> | { error: RolloutError } {
  try {
    const equipped = equipPlugin('agent', agent, { ...services, signal })
    const { params } = equipped.context
    if (findSecrets(params).length === 0) return equipped
    // The record holds the reference; the value is there for the agent alone.
    const source = { get: (name: string) => services.secret(name), hint: 'in the environment or in the project’s .env' }
    return { ...equipped, context: { ...equipped.context, params: resolveSecrets(params, source) } }
  } catch (error) {
    return { error: { ...errorRecord(error), infra: true } }
  }
}

interface Limits {
  readonly maxTurns: number
  readonly maxTotalTokens: number | undefined
  readonly timeoutMs: number | undefined
}

// Limits of the agent's own params hold as those of the caller do: the smaller one ends it.
function limitsOf({ maxTurns, maxTotalTokens, timeoutMs }: AgentRun, params: unknown): Limits {
  const own = LimitParams.safeParse(params).data ?? {}
  const least = (...values: (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }
  return {
    maxTurns: least(maxTurns, own.max_turns) ?? defaultMaxTurns,
    maxTotalTokens: least(maxTotalTokens, own.max_total_tokens),
    timeoutMs: least(timeoutMs, own.timeout_s === undefined ? undefined : own.timeout_s * 1000),
  }
}

type End = { output: string; turnRewards?: readonly number[] | undefined } | { thrown: unknown } | undefined

async function start(
  { task, sampling, environment, folder, logsDir }: AgentRun,
  { plugin, context }: EquippedPlugin<'agent'>,
  record: TurnRecord,
  maxTurns: number,
): Promise<End> {
  const given = await plugin.run({
    ...context,
    task,
    policy: record.policy,
    sampling,
    maxTurns,
    environment: environment && record.guard(environment),
    folder,
    logsDir,
  })
  const output: unknown = given?.output // a plugin in JavaScript may return anything
  if (typeof output !== 'string') throw new Error('it returned no { output } with a text')
  return { output, turnRewards: rewardsOf(given.turnRewards) }
}

function rewardsOf(given: unknown): readonly number[] | undefined {
  if (given === undefined) return undefined
  if (Array.isArray(given) && given.every(Number.isFinite)) return [...given]
  throw new Error('it returned turnRewards that are no list of numbers')
}

/** The end of the agent, or nothing where it did not come soon after the abort. */
function untilStopped(work: () => Promise<End>, signal: AbortSignal): Promise<End> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined
    const stopListening = onAbort(signal, () => {
      grace = setTimeout(() => resolve(undefined), GRACE_MS)
    })
    const over = (end: End) => {
      stopListening()
      clearTimeout(grace)
      resolve(end)
    }
    // In a separate microtask: a plugin that throws before its first await is no different from one that throws later.
    Promise.resolve()
      .then(work)
      .then(over, (thrown: unknown) => over({ thrown }))
  })
}

function outcomeOf(
  run: AgentRun,
  record: TurnRecord,
  end: End,
  { stopped, limits }: { stopped: AbortSignal; limits: Limits },
): AgentOutcome {
  const { turns } = record
  const last = turns.at(-1)
  const truncated = record.limit ?? (last?.stopReason === 'length' ? 'max_tokens' : undefined)
  const common = { turns, usage: record.usage(), truncated, output: last?.text }
  if (end !== undefined && 'output' in end) return { ...common, ended: 'done', ...end }
  if (run.signal.aborted) {
    const error = { code: 'INTERRUPTED' as const, message: messageOf(run.signal.reason), infra: true }
    return { ...common, ended: 'cancelled', error }
  }
  if (stopped.aborted) return { ...common, ended: 'timeout', error: { ...late(run, limits).toRecord(), infra: false } }
  if (record.limit !== undefined) return { ...common, ended: 'done' }
  return { ...common, ended: 'failed', error: failure(run, record, end?.thrown) }
}

function late({ agent }: AgentRun, { timeoutMs = 0 }: Limits): EvsysError {
  return new EvsysError('PLUGIN_FAILED', `agent "${agent.kind}" was not done after ${timeoutMs / 1000} s`)
}

function failure({ agent }: AgentRun, record: TurnRecord, thrown: unknown): RolloutError {
  const [problem] = EvsysError.is(thrown) ? problemsOf(thrown) : []
  // Whatever an agent lacked to begin with (a tool, a server, an environment) is not the answer's fault either.
  const infra = record.isInfra(thrown) || (problem !== undefined && problem.code !== 'PLUGIN_FAILED')
  if (problem !== undefined) return { ...toRecord(problem), infra }
  const message = `${infra ? 'the model' : `agent "${agent.kind}"`}: ${messageOf(thrown)}`
  return { code: infra ? 'INFERENCE_FAILED' : 'PLUGIN_FAILED', message, infra }
}
