// A rollout of a recipe whose task is a folder: the agent acts in the environment of the task, and its tests give the reward.

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { OpenInferenceClient, PluginSpec, Rollout, RunAssignment, Trajectory } from '../../contracts/index.ts'
import { loadUnchanged } from '../../evaluate/index.ts'
import { attemptFolder, folderAgent, keepTrial } from '../../rollout/index.ts'
import type { RunScope } from './run-scope.ts'

interface FolderRollout {
  readonly request: Parameters<Rollout>[0]
  /** What the row says of its folder. */
  readonly folder: { readonly path: string; readonly digest: string }
  readonly agent: PluginSpec
  policy(): OpenInferenceClient
}

/** Rejects when it is cancelled, or the folder is not the one that the rows were made of. */
export async function rollOutFolder(
  scope: RunScope,
  { request, folder, agent, policy }: FolderRollout,
  signal: AbortSignal,
): Promise<Trajectory> {
  const { task, sample, sampling, seedPath, timeoutMs } = request
  const { registry, log, secret, random } = scope.services
  const loaded = await loadUnchanged(resolve(scope.assignment.project_dir, folder.path), folder.digest)
  const services = { registry, log, secret, random }
  const { run_dir, config, log_rollouts } = scope.assignment
  const attempted = await attemptFolder({
    task: loaded,
    agent: agent.kind,
    environment: config.environment,
    services,
    signal,
    runAgent: folderAgent(
      {
        spec: agent,
        policy,
        sampling,
        hidesFolder: true,
        timeoutMs,
        random: ({ step }, ...path) => random('rollout', ...seedPath, sample, ...(step === '' ? [] : [step]), ...path),
      },
      services,
    ),
    scratch: await scratchOf(scope.assignment),
    keep: log_rollouts ? (record, failed) => keepTrial(record, run_dir, placeOf(request), failed) : undefined,
  })
  return { taskId: task.task_id, sample, ...attempted }
}

/** Where the files of a rollout are kept, by its draws and its task. */
function placeOf({ task, sample, seedPath }: FolderRollout['request']): string {
  const named = [...seedPath, task.task_id].map((part) =>
    String(part)
      .replaceAll(/[^\w.-]+/g, '_')
      .slice(0, 60),
  )
  return join('logs', 'training', 'trials', `${named.join('-')}__${sample}`)
}

const swept = new WeakMap<RunAssignment, Promise<string>>()

/** Where trials of a run keep their files. What an attempt at the run left there that was killed is removed first. */
function scratchOf(assignment: RunAssignment): Promise<string> {
  const dir = join(assignment.run_dir, 'trials')
  const known = swept.get(assignment) ?? rm(dir, { recursive: true, force: true }).then(() => dir)
  swept.set(assignment, known)
  return known
}
