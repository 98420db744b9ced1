// One trial of an agent that is a function, in a folder environment: what most tests of trials need.
import { join } from 'node:path'
import type { Usage } from '../../src/contracts/index.ts'
import type { LoadedTask } from '../../src/rollout/index.ts'
import {
  runTrial,
  type TrialAgentRun,
  TrialConfig,
  type TrialOutcome,
  type TrialRequest,
} from '../../src/rollout/index.ts'
import { type FolderEnvironment, openFolderEnvironment } from './folder-environment.ts'

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }

export interface TriedTask extends TrialOutcome {
  readonly dir: string
  readonly opened: readonly FolderEnvironment[]
}

export async function tryTask(
  task: LoadedTask,
  folder: string,
  agent: (run: TrialAgentRun, signal: AbortSignal) => Promise<unknown> = async () => {},
  {
    config = {},
    ...rest
  }: Partial<Omit<TrialRequest, 'config'>> & { config?: Record<string, unknown> | undefined } = {},
): Promise<TriedTask> {
  const dir = join(folder, 'task__Trial01')
  const opened: FolderEnvironment[] = []
  const outcome = await runTrial({
    task,
    config: TrialConfig.parse({
      task: { path: task.path },
      trial_name: 'task__Trial01',
      agent: { name: 'scripted' },
      ...config,
    }),
    trialId: '00000000-0000-4000-8000-000000000000',
    dir,
    async openEnvironment({ stateDir }) {
      const environment = openFolderEnvironment(join(stateDir, 'root'))
      opened.push(environment)
      return environment
    },
    agentInfo: { name: 'scripted', version: '1', model_info: null },
    async runAgent(run, signal) {
      await agent(run, signal)
      return { turns: [], usage: noUsage, output: '' }
    },
    hostEnv: {},
    graceMs: 50,
    signal: new AbortController().signal,
    ...rest,
  })
  return { ...outcome, dir, opened }
}

/** Runs a shell command as the agent. */
export function shell(command: string): (run: TrialAgentRun, signal: AbortSignal) => Promise<unknown> {
  return ({ environment }, signal) => environment.exec({ argv: ['bash', '-c', command] }, signal)
}
