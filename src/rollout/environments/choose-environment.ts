// Which environment a task gets when none is named: the least that holds it. Isolation and network are never less than the task
// asks for: where nothing holds it, the reasons are told.
import type { TaskFolder } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { HostEnv } from '../task/index.ts'
import { networkFaults } from './check-network.ts'
import { environmentDefinition } from './environment-definition.ts'
import { planEnvironment } from './plan-environment.ts'

/** What this machine has. Absent: it works; else why it does not. */
export interface MachineMeans {
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
  means: MachineMeans,
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
  throw new EvsysError(
    'ENVIRONMENT_REFUSED',
    `no environment of this machine can hold the task ${definition.task.name}: local: ${unmet.join('; ')}. docker: ${noDocker}`,
    {
      fix: 'install docker, or bubblewrap for the local sandbox, or change what the task asks for; docs/tasks.md lists it.',
    },
  )
}
