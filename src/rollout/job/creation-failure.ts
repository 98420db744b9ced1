// A trial that could not even be made: it is a result like any other, so that it is counted and can be repeated.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Clock, messageOf, writeFileAtomic } from '../../kernel/index.ts'
import { exceptionName, rolloutError } from '../trial/trial-error.ts'
import type { AgentInfo, TrialResult } from '../trial/trial-result.ts'
import { secretRedactor, trialSecrets } from '../trial/trial-secrets.ts'
import type { PlannedTrial } from './plan-trials.ts'

export async function creationFailure(
  { config, jobTask }: PlannedTrial,
  {
    error,
    trialId,
    dir,
    agentInfo,
    clock,
  }: { error: unknown; trialId: string; dir: string; agentInfo: AgentInfo; clock: Clock },
): Promise<{ result: TrialResult }> {
  const now = new Date(clock.now()).toISOString()
  const redact = secretRedactor(trialSecrets([config.agent.env, config.environment.env, config.verifier.env], {}))
  const exception = exceptionName(error)
  const result: TrialResult = redact({
    id: trialId,
    task_name: jobTask.name,
    trial_name: config.trial_name,
    trial_uri: pathToFileURL(dir).href,
    task_id: { path: jobTask.path },
    source: jobTask.source ?? null,
    task_checksum: jobTask.task?.digest.replace(/^sha256:/, '') ?? '',
    config,
    agent_info: agentInfo,
    ...{ agent_result: null, verifier_result: null, verifier_environment_mode: null },
    exception_info: {
      exception_type: exception,
      exception_message: messageOf(error),
      exception_traceback: (error instanceof Error && error.stack) || messageOf(error),
      occurred_at: now,
    },
    ...{ started_at: now, finished_at: now, environment_setup: null, agent_setup: null },
    ...{ agent_execution: null, verifier: null, step_results: null },
    evsys: {
      status: exception === 'CancelledError' ? 'cancelled' : 'failed',
      error: rolloutError(error),
      warnings: [],
    },
  })
  await mkdir(dir, { recursive: true })
  await writeFileAtomic(join(dir, 'result.json'), `${JSON.stringify(result, null, 2)}\n`)
  return { result }
}
