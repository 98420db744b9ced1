// An agent of the project in a trial: it runs in the worker, over the environment that is here.
import type { AgentOrder, AgentRecord, Turn } from '../../contracts/index.ts'
import { type RunTrialAgent, type TaskPart, trialError } from '../../rollout/index.ts'
import type { RunAgent } from '../workers/worker-process.ts'

export interface WorkerFolderAgent {
  readonly lead: RunAgent
  readonly order: Pick<AgentOrder, 'agent' | 'system_prompt' | 'max_tokens' | 'temperature'>
  /** Address of the draws of one part. */
  seedPath(part: TaskPart): (string | number)[]
  readonly scratch: string
}

export function workerFolderAgent({ lead, order, seedPath, scratch }: WorkerFolderAgent): RunTrialAgent {
  return async ({ task, folder, environment }, signal) => {
    const { task_id, instruction, metadata } = task
    const { level, workdir } = environment
    const record = await lead(
      {
        order: {
          ...order,
          task_id,
          instruction,
          metadata,
          level,
          workdir,
          seed_path: seedPath({ taskId: task_id, step: folder.step ?? '' }),
        },
        environment,
        scratch,
      },
      signal,
    )
    const { output, truncated, prompt_tokens, completion_tokens, latency_s, error, is_late } = record
    return {
      turns: turnsOf(record),
      usage: { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s },
      output,
      truncated,
      error:
        error === undefined ? undefined : is_late === true ? trialError('AgentTimeoutError', error.message) : error,
    }
  }
}

function turnsOf({ turns }: AgentRecord): Turn[] {
  const all: Turn[] = []
  for (const { kept, messages, text, tool_calls, stop_reason } of turns) {
    all.push({
      messages: [...(all.at(-1)?.messages.slice(0, kept) ?? []), ...messages],
      text,
      stopReason: stop_reason,
      toolCalls: tool_calls,
    })
  }
  return all
}
