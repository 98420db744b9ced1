// Whether a task can happen in the local sandbox, told before a run. The sandbox shows the programs of this machine, so common
// bases are stood in for, and files and simple commands of a Dockerfile are done over them; whatever else needs the image.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { composeFile } from './context-files.ts'
import type { EnvironmentDefinition } from './environment-definition.ts'
import { type BuildStep, isRoot, planDockerfile } from './plan-dockerfile.ts'
import type { HasCommand } from './run-subset.ts'

/** What the local sandbox makes of an environment. */
export type EnvironmentPlan =
  | {
      readonly status: 'runnable' | 'runnable-with-warnings'
      readonly warnings: readonly string[]
      readonly steps: readonly BuildStep[]
      readonly workdir: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly status: 'needs-image'; readonly reasons: readonly string[] }

/** Plans the environment for the local sandbox. */
export function planEnvironment(definition: EnvironmentDefinition, hasCommand: HasCommand = isOnPath): EnvironmentPlan {
  const { reasons, warnings, steps, env, workdir } = planDockerfile(definition, hasCommand)
  const all = [...needsBesides(definition), ...reasons]
  if (all.length > 0) return { status: 'needs-image', reasons: all }
  const start = definition.config.workdir ?? workdir
  return {
    status: warnings.length === 0 ? 'runnable' : 'runnable-with-warnings',
    warnings,
    steps: [...steps, { kind: 'folder', target: start }],
    workdir: start,
    env,
  }
}

function needsBesides({ config, contextDir, phases }: EnvironmentDefinition): string[] {
  const reasons: string[] = []
  const compose = composeFile(contextDir)
  if (compose !== undefined) reasons.push(`it has services of its own (${compose})`)
  if ((config.gpus ?? 0) > 0) reasons.push(`it wants ${config.gpus} GPU`)
  if (config.tpu !== undefined) reasons.push('it wants a TPU')
  if (config.os === 'windows') reasons.push('it runs on Windows')
  for (const user of new Set(phases.map((phase) => phase.user))) {
    if (user !== undefined && !isRoot(user)) reasons.push(`it runs commands as the account ${user}`)
  }
  return reasons
}

const searched = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Whether this machine has a command where the local sandbox shows it. */
export function isOnPath(name: string): boolean {
  return searched.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
