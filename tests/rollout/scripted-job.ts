// Jobs whose agents are functions: an agent returns the reward that the tests of its task will find.
import { join } from 'node:path'
import {
  JobConfig,
  type JobRequest,
  type JobTask,
  loadTaskFolder,
  type PlannedTrial,
  type TrialAgentRun,
} from '../../src/rollout/index.ts'
import { openFolderEnvironment } from './folder-environment.ts'
import { taskFolder } from './task-folder.ts'
import { noUsage } from './try-task.ts'

export interface ScriptedJob extends Partial<Pick<JobRequest, 'clock' | 'signal' | 'onEvent' | 'onTrial'>> {
  readonly config?: Record<string, unknown> | undefined
  agent(run: TrialAgentRun, trial: PlannedTrial, signal: AbortSignal): Promise<number>
}

/** `count` tasks, task0 and so on; those at `paths` are read again. */
export async function jobTasks(folder: () => string, count: number, paths?: readonly string[]): Promise<JobTask[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const path = paths?.[index]
      const task =
        path === undefined
          ? await taskFolder(folder(), {
              'tests/test.sh': '#!/bin/bash\ncp $ROOT/app/answer $ROOT/logs/verifier/reward.txt\n',
            })
          : await loadTaskFolder(path)
      return { path: task.path, name: `task${index}`, task }
    }),
  )
}

export async function jobRequest(
  dir: string,
  tasks: readonly JobTask[],
  { config = {}, agent, ...rest }: ScriptedJob,
): Promise<JobRequest> {
  return {
    config: JobConfig.parse({ agents: [{ name: 'scripted' }], ...config }),
    ...{ tasks, dir, hostEnv: {}, graceMs: 50, signal: new AbortController().signal },
    async prepare(trial) {
      return {
        openEnvironment: async ({ stateDir }) => openFolderEnvironment(join(stateDir, 'root')),
        agentInfo: { name: trial.agent.name ?? '', version: '1', model_info: null },
        async runAgent(run, signal) {
          const reward = await agent(run, trial, signal)
          await run.environment.write('/app/answer', Buffer.from(`${reward}\n`))
          return { turns: [], usage: noUsage }
        },
      }
    },
    ...rest,
  }
}
