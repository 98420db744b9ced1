// Whether a task can happen in the local sandbox, known before a run. The sandbox shows the programs of this machine, so common
// bases are stood in for, and files and simple commands of a Dockerfile are done over them; whatever else needs the image.
import { accessSync, constants } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { composeFile } from './dockerfile.ts'
import { type EnvironmentDefinition, environmentError } from './environment-definition.ts'
import { type BuildStep, isRoot, planDockerfile } from './plan-dockerfile.ts'
import type { HasCommand } from './run-subset.ts'

/** What the local sandbox makes of an environment. */
type EnvironmentPlan =
  | {
      readonly status: 'runnable' | 'runnable-with-warnings'
      readonly warnings: readonly string[]
      readonly steps: readonly BuildStep[]
      readonly workdir: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly status: 'needs-image'; readonly reasons: readonly string[] }

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

// Does what a plan says in an open local environment: folders, copies, and commands of the Dockerfile, without network.
type Place = Pick<OpenEnvironment, 'exec' | 'upload'>

/** Does all steps in order; the first that fails is reported with its line. */
export async function buildLocally(place: Place, steps: readonly BuildStep[], signal: AbortSignal): Promise<void> {
  for (const step of steps) {
    signal.throwIfAborted()
    if (step.kind === 'folder') await mustDo(place, ['mkdir', '-p', step.target], { what: step.target, signal })
    else if (step.kind === 'copy') await copy(place, step, signal)
    else {
      const { argv, cwd, env, line } = step
      await mustDo(place, argv, { what: `line ${line} of the Dockerfile`, cwd, env, signal })
    }
  }
}

async function copy(place: Place, step: Extract<BuildStep, { kind: 'copy' }>, signal: AbortSignal): Promise<void> {
  const { sources, target, mode } = step
  const isFolder = await place.exec({ argv: ['test', '-d', target], cwd: '/', network: false }, signal)
  const intoFolder = step.intoFolder || isFolder.exitCode === 0
  for (const source of sources) {
    const found = await lstat(source)
    const end = found.isDirectory() || !intoFolder ? target : posix.join(target, basename(source))
    await place.upload(source, end)
    if (mode === undefined) continue
    const argv = ['chmod', '-R', mode.toString(8), end]
    await mustDo(place, argv, { what: `line ${step.line} of the Dockerfile`, signal })
  }
}

type Doing = {
  what: string
  cwd?: string | undefined
  env?: Readonly<Record<string, string>> | undefined
  signal: AbortSignal
}

async function mustDo(place: Place, argv: readonly string[], { what, signal, cwd = '/', env }: Doing): Promise<void> {
  const result = await place.exec({ argv, cwd, network: false, env }, signal)
  if (result.exitCode === 0) return
  const said = `${result.stdout}${result.stderr}`.trim().slice(-400)
  const message = `the environment "local" could not build ${what}: ${said === '' ? `exit code ${result.exitCode}` : said}`
  throw environmentError(
    'SandboxBuildFailedError',
    message,
    'use the environment `docker`, which builds the image itself.',
  )
}
