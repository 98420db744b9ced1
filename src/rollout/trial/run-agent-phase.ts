// The phase in which the agent acts. Its turns are kept as they come, so a deadline, a failure or a killed process loses none of them.
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnvironmentCommand, HarborTask, OpenEnvironment, TaskFolder, Turn, Usage } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { settleWithDeadline } from './deadlines.ts'
import { trialError } from './trial-error.ts'
import type { AgentResult } from './trial-result.ts'

export interface TrialAgentRun {
  readonly task: HarborTask
  readonly folder: TaskFolder
  readonly environment: OpenEnvironment
  /** Where it may leave files for the record. */
  readonly logsDir: string
  /** Called with every answer of the policy when it is there. */
  onTurn(turn: Turn): void
}

/** What an agent did. `error`: why it did not get to the end. */
export interface TrialAgentRecord {
  readonly output?: string | undefined
  readonly turns: readonly Turn[]
  readonly usage: Usage
  readonly truncated?: 'max_tokens' | 'max_turns' | 'context' | undefined
  readonly error?: unknown
}

/** Runs an agent. When its signal aborts it resolves with what there is. */
export type RunTrialAgent = (run: TrialAgentRun, signal: AbortSignal) => Promise<TrialAgentRecord>

interface AgentPhase extends Omit<TrialAgentRun, 'onTurn'> {
  readonly runAgent: RunTrialAgent
  readonly lease: LeaseOptions
  readonly timeoutMs?: number | undefined
  readonly signal: AbortSignal
  readonly graceMs?: number | undefined
}

interface AgentPhaseEnd {
  readonly turns: readonly Turn[]
  readonly result: AgentResult
  readonly output?: string | undefined
  readonly truncated?: string | undefined
  readonly error?: unknown
}

/** Runs the agent and takes everything back from it. Never rejects. */
export async function runAgentPhase(phase: AgentPhase): Promise<AgentPhaseEnd> {
  const { runAgent, lease, timeoutMs, signal, environment, logsDir, graceMs } = phase
  await mkdir(logsDir, { recursive: true })
  await using journal = openJournal(join(logsDir, 'turns.jsonl'))
  const turns: Turn[] = []
  const lent = leaseEnvironment(environment, lease)
  const run: TrialAgentRun = {
    task: phase.task,
    folder: phase.folder,
    environment: lent.environment,
    logsDir,
    onTurn(turn) {
      turns.push(turn)
      journal.add(turn)
    },
  }
  const settled = await settleWithDeadline((during) => runAgent(run, during), {
    timeout: () => trialError('AgentTimeoutError', `the agent did not end within ${(timeoutMs ?? 0) / 1000} s`),
    timeoutMs,
    signal,
    graceMs,
  })
  const closed = await lent.revoke().then(
    () => undefined,
    (cause: unknown) =>
      trialError('SandboxBuildFailedError', 'the processes of the agent could not be ended', { cause }),
  )
  const record = settled.value
  const error = closed ?? settled.stopped ?? settled.error ?? record?.error
  return {
    turns: record === undefined || record.turns.length < turns.length ? turns : record.turns,
    result: agentResult(record?.usage),
    output: record?.output,
    truncated: record?.truncated,
    error,
  }
}

function agentResult(usage: Usage | undefined): AgentResult {
  return {
    n_input_tokens: usage?.promptTokens ?? null,
    n_cache_tokens: usage?.cachedPromptTokens ?? null,
    n_output_tokens: usage?.completionTokens ?? null,
    cost_usd: usage?.costUsd ?? null,
    rollout_details: null,
    metadata: {},
  }
}

// Made with the first turn: an agent without a policy leaves no such file.
function openJournal(path: string): AsyncDisposable & { add(turn: Turn): void } {
  let stream: ReturnType<typeof createWriteStream> | undefined
  return {
    add({ tokens, ...turn }) {
      stream ??= createWriteStream(path, { flags: 'a' }).on('error', () => {}) // the turns are in memory; the folder is reported later
      const exact = tokens && {
        ...tokens,
        prompt: [...tokens.prompt],
        completion: [...tokens.completion],
        logprobs: [...tokens.logprobs],
      }
      stream.write(`${JSON.stringify({ ...turn, tokens: exact })}\n`)
    },
    async [Symbol.asyncDispose]() {
      const open = stream
      if (open !== undefined)
        await new Promise<void>((resolve) => open.end(() => resolve()).once('error', () => resolve()))
    },
  }
}

// The environment as an agent holds it: with the agent's account and variables, and only as long as its phase lasts. An agent that
// continues after its deadline finds every door closed.

/** What every command of the agent gets. Its own variables yield to `env`. */
interface LeaseOptions {
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly user?: string | number | undefined
  readonly network?: boolean | undefined
}

function leaseEnvironment(environment: OpenEnvironment, { env, user, network }: LeaseOptions) {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isOver) throw new EvsysError('AGENT_FAILED', 'the phase of the agent is over: its environment is closed to it')
    const call = work()
    underWay.add(call)
    try {
      return await call
    } finally {
      underWay.delete(call)
    }
  }
  const withDefaults = (command: EnvironmentCommand): EnvironmentCommand => ({
    user,
    network,
    ...command,
    env: env === undefined ? command.env : { ...command.env, ...env },
  })
  const lent: OpenEnvironment = {
    level: environment.level,
    workdir: environment.workdir,
    exec: (command, signal) => during(() => environment.exec(withDefaults(command), signal)),
    spawn: (command, signal) => during(() => environment.spawn(withDefaults(command), signal)),
    read: (path) => during(() => environment.read(path)),
    write: (path, bytes) => during(() => environment.write(path, bytes)),
    upload: (source, target) => during(() => environment.upload(source, target)),
    download: (source, target) => during(() => environment.download(source, target)),
    empty: (path) => during(() => environment.empty(path)),
    killAll: () => during(() => environment.killAll()),
    // It is the trial's: an agent that closes its lease closes nothing.
    [Symbol.asyncDispose]: async () => {},
  }
  return {
    environment: lent,
    /** Closes it and waits for the calls under way, which cannot be called back, to end. */
    async revoke() {
      isOver = true
      await environment.killAll()
      await Promise.allSettled(underWay)
    },
  }
}
