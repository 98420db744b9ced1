// Which environment a task gets when none is named: the least that holds it. Isolation and network are never less than the task
// asks for: where nothing holds it, the reasons are reported. The least of all has nothing in it: for tasks answered in words.
import type { OpenEnvironment, TaskFolder } from '../../contracts/index.ts'
import { defineEnvironment, EvsysError, messageOf } from '../../kernel/index.ts'
import { probeSandboxes } from '../../sandbox/index.ts'
import type { HostEnv } from '../task/index.ts'
import { DockerCli, outputTail } from './docker-cli.ts'
import { environmentDefinition, networkFaults, refusal } from './environment-definition.ts'
import { planEnvironment } from './plan-environment.ts'

/** What this machine has. Absent: it works; else why it does not. */
interface MachineCapabilities {
  sandbox(): Promise<string | undefined>
  docker(): Promise<string | undefined>
}

/** The kind of environment for a task, and why. */
export interface EnvironmentChoice {
  readonly kind: 'inline' | 'local' | 'docker'
  /** Why not a lighter one. */
  readonly reasons: readonly string[]
}

/** Chooses for a task, a row where there is no folder. Throws where nothing on this machine can hold the task. */
export async function chooseEnvironment(
  folder: TaskFolder | undefined,
  means: MachineCapabilities,
  hostEnv: HostEnv,
): Promise<EnvironmentChoice> {
  if (folder === undefined) return { kind: 'inline', reasons: [] }
  const definition = await environmentDefinition(folder, hostEnv)
  const plan = planEnvironment(definition)
  const needs = [
    ...(plan.status === 'needs-image' ? plan.reasons : []),
    ...networkFaults(definition, { perPhase: true }),
  ]
  const noSandbox = needs.length > 0 ? undefined : await means.sandbox()
  if (needs.length === 0 && noSandbox === undefined) return { kind: 'local', reasons: [] }
  const unmet = noSandbox === undefined ? needs : [`no sandbox works here: ${noSandbox}`]
  const forDocker = networkFaults(definition, { perPhase: false })
  const noDocker = forDocker.length > 0 ? forDocker.join('; ') : await means.docker()
  if (noDocker === undefined) return { kind: 'docker', reasons: unmet }
  const message = `no environment of this machine can hold the task ${definition.task.name}: local: ${unmet.join('; ')}. docker: ${noDocker}`
  throw new EvsysError('ENVIRONMENT_REFUSED', message, {
    fix: 'install docker, or bubblewrap for the local sandbox, or change what the task asks for; docs/concepts/task-folders.md lists it.',
  })
}

// What this machine has for environments, tried out once for a process.

/** The sandbox and the docker engine of this machine. */
export function machineCapabilities(signal: AbortSignal, program = 'docker'): MachineCapabilities {
  return { sandbox: () => (sandbox ??= trySandbox()), docker: () => tryDocker(program, signal) }
}

let sandbox: Promise<string | undefined> | undefined

async function trySandbox(): Promise<string | undefined> {
  const probes = await probeSandboxes()
  if (probes.some(({ level, reason }) => level !== 'container' && reason === undefined)) return undefined
  return probes.map(({ level, reason }) => `${level}: ${reason ?? 'works, and has other programs'}`).join('; ')
}

async function tryDocker(program: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await new DockerCli(program).call(['version', '--format', '{{.Server.Version}}'], { signal })
    return answer.code === 0 ? undefined : outputTail(answer)
  } catch (error) {
    signal.throwIfAborted()
    return messageOf(error)
  }
}

export const inline = defineEnvironment({
  kind: 'inline',
  summary: 'No files and no commands: for tasks that are answered in words.',
  open: async ({ folder }): Promise<OpenEnvironment> => {
    if (folder !== undefined) {
      throw refusal('inline', 'it is a folder with files', 'use the environment `local` or `docker`.')
    }
    return nothing
  },
})

const unable = async (): Promise<never> => {
  throw new EvsysError('ENVIRONMENT_REFUSED', 'the environment "inline" has no files and runs no commands', {
    fix: 'answer in words, or use the environment `local` or `docker`.',
  })
}

const nothing: OpenEnvironment = Object.freeze({
  // Nothing is shut in, since nothing runs: the least that can be said.
  level: 'process',
  workdir: '/',
  exec: unable,
  spawn: unable,
  read: unable,
  write: unable,
  upload: unable,
  download: unable,
  empty: unable,
  killAll: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
})
