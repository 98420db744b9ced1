// The phase in which the agent acts. Its turns are kept as they come, so a deadline, a failure or a killed process loses none of them.
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { HarborTask, OpenEnvironment, TaskFolder, Turn, Usage } from '../../contracts/index.ts'
import { type Lending, lendEnvironment } from './lend-environment.ts'
import { trialError } from './trial-error.ts'
import type { AgentResult } from './trial-result.ts'
import { settleUnderDeadline } from './under-deadline.ts'

/** One run of an agent. */
export interface TrialAgentRun {
  readonly task: HarborTask
  readonly folder: TaskFolder
  readonly environment: OpenEnvironment
  /** Where it may leave files for the record. */
  readonly logsDir: string
  /** Told of every answer of the policy when it is there. */
  onTurn(turn: Turn): void
}

/** What an agent did. `error`: why it did not get to the end. */
export interface TrialAgentRecord {
  readonly output?: string
  readonly turns: readonly Turn[]
  readonly usage: Usage
  readonly truncated?: 'max_tokens' | 'max_turns' | 'context'
  readonly error?: unknown
}

/** Runs an agent. When its signal aborts it resolves with what there is. */
export type RunTrialAgent = (run: TrialAgentRun, signal: AbortSignal) => Promise<TrialAgentRecord>

export interface AgentPhase extends Omit<TrialAgentRun, 'onTurn'> {
  readonly runAgent: RunTrialAgent
  readonly lending: Lending
  readonly timeoutMs?: number | undefined
  readonly signal: AbortSignal
  readonly graceMs?: number
}

export interface AgentPhaseEnd {
  readonly turns: readonly Turn[]
  readonly result: AgentResult
  readonly output?: string
  readonly truncated?: string
  readonly error?: unknown
}

/** Runs the agent and takes everything back from it. Never rejects. */
export async function runAgentPhase(phase: AgentPhase): Promise<AgentPhaseEnd> {
  const { runAgent, lending, timeoutMs, signal, environment, logsDir, graceMs } = phase
  await mkdir(logsDir, { recursive: true })
  await using journal = openJournal(join(logsDir, 'turns.jsonl'))
  const turns: Turn[] = []
  const lent = lendEnvironment(environment, lending)
  const run: TrialAgentRun = {
    ...{ task: phase.task, folder: phase.folder, environment: lent.environment, logsDir },
    onTurn(turn) {
      turns.push(turn)
      journal.add(turn)
    },
  }
  const settled = await settleUnderDeadline((during) => runAgent(run, during), {
    timeout: () => trialError('AgentTimeoutError', `the agent did not end within ${(timeoutMs ?? 0) / 1000} s`),
    ...{ timeoutMs, signal },
    ...(graceMs === undefined ? {} : { graceMs }),
  })
  const closed = await lent.takeBack().then(
    () => undefined,
    (cause: unknown) =>
      trialError('SandboxBuildFailedError', 'the processes of the agent could not be ended', { cause }),
  )
  const record = settled.value
  const error = closed ?? settled.stopped ?? settled.error ?? record?.error
  return {
    turns: record === undefined || record.turns.length < turns.length ? turns : record.turns,
    result: agentResult(record?.usage),
    ...(record?.output === undefined ? {} : { output: record.output }),
    ...(record?.truncated === undefined ? {} : { truncated: record.truncated }),
    ...(error === undefined ? {} : { error }),
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
      stream ??= createWriteStream(path, { flags: 'a' }).on('error', () => {}) // the turns are in memory; the folder is told of later
      const exact = tokens && {
        ...tokens,
        prompt: [...tokens.prompt],
        completion: [...tokens.completion],
        logprobs: [...tokens.logprobs],
      }
      stream.write(`${JSON.stringify({ ...turn, ...(exact === undefined ? {} : { tokens: exact }) })}\n`)
    },
    async [Symbol.asyncDispose]() {
      const open = stream
      if (open !== undefined)
        await new Promise<void>((resolve) => open.end(() => resolve()).once('error', () => resolve()))
    },
  }
}
