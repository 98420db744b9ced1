// The environment `docker`: a container of the user's own docker, with the image of the task. Nothing of this machine is mounted:
// files go in and out by `docker cp`, commands by `docker exec`.

import { randomBytes } from 'node:crypto'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { defineEnvironment } from '../../kernel/index.ts'
import { DockerCli, outputTail } from './docker-cli.ts'
import {
  containerLabels,
  type DockerOptions,
  DockerParams,
  envArguments,
  prepareImage,
  removeOrphans,
  type StartedContainer,
  startCompose,
} from './docker-container.ts'
import { DockerEnvironment } from './docker-environment.ts'
import { composeFile } from './dockerfile.ts'
import { runHealthcheck } from './environment-commands.ts'
import {
  type EnvironmentDefinition,
  environmentDefinition,
  hasNetwork,
  networkFaults,
  refusal,
} from './environment-definition.ts'

export const docker = defineEnvironment({
  kind: 'docker',
  summary: 'A container with the image of the task, by the docker program of this machine.',
  params: DockerParams,
  needs: { container: true },
  open: async ({ folder, stateDir, params: given, log, signal }): Promise<OpenEnvironment> => {
    if (folder === undefined) throw refusal('docker', 'it is a row without a folder', 'use the environment `inline`.')
    const definition = await environmentDefinition(folder, process.env)
    const warn = (text: string) => log('warn', text)
    return await openDockerEnvironment({ definition, stateDir, params: given, log: warn, signal })
  },
})

// Opens a container for a task: checks first, then image, container, folders, healthcheck. What fails leaks nothing.

async function openDockerEnvironment(options: DockerOptions): Promise<OpenEnvironment> {
  const { definition, params, signal, log } = options
  const cli = new DockerCli(params.program)
  refuseEarly(definition)
  await probe(cli, signal)
  const removed = await sweepOnce(cli, signal)
  if (removed > 0) log(`removed ${removed} containers whose process is gone`)
  const compose = composeFile(definition.contextDir)
  const container =
    compose === undefined ? await startContainer(cli, options) : await startCompose(cli, options, compose)
  const environment = await DockerEnvironment.enter(cli, container, options).catch(async (error: unknown) => {
    await container.remove()
    throw error
  })
  try {
    const { healthcheck } = definition.config
    if (healthcheck !== undefined) await runHealthcheck(environment, healthcheck, signal)
    return environment
  } catch (error) {
    await environment[Symbol.asyncDispose]()
    throw error
  }
}

function refuseEarly(definition: EnvironmentDefinition): void {
  const reasons = networkFaults(definition, { perPhase: false })
  if (definition.config.tpu !== undefined) reasons.push('it wants a TPU')
  if (definition.config.os === 'windows') reasons.push('it runs on Windows')
  const fix = 'change the task; docs/concepts/task-folders.md says what each environment runs.'
  if (reasons.length > 0) throw refusal('docker', reasons.join('; '), fix)
}

async function probe(cli: DockerCli, signal: AbortSignal): Promise<void> {
  const answer = await cli.call(['version', '--format', '{{.Server.Version}}'], { signal })
  if (answer.code === 0) return
  const why = `its engine does not answer: ${outputTail(answer)}`
  throw refusal('docker', why, 'start the docker engine, or use the environment `local`.')
}

const swept = new Set<string>()

// Once for a process: what others leave later is theirs to find.
async function sweepOnce(cli: DockerCli, signal: AbortSignal): Promise<number> {
  if (swept.has(cli.program)) return 0
  swept.add(cli.program)
  return await removeOrphans(cli, signal)
}

async function startContainer(
  cli: DockerCli,
  { definition, params, stateDir, signal }: DockerOptions,
): Promise<StartedContainer> {
  const image = await prepareImage(cli, definition, { forceBuild: params.force_build, signal })
  const { config, env } = definition
  const name = `evsys-${randomBytes(8).toString('hex')}`
  const memory = `${config.memory_mb ?? params.memory_mb}m`
  await using given = await envArguments(env, stateDir)
  const args = [
    ...['run', '--detach', '--name', name],
    ...Object.entries(containerLabels(definition.task.name)).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    ...['--network', hasNetwork(definition.network) ? 'bridge' : 'none'],
    ...['--memory', memory, '--memory-swap', memory, '--pids-limit', String(params.processes)],
    ...['--security-opt', 'no-new-privileges'],
    ...(config.cpus === undefined ? [] : ['--cpus', String(config.cpus)]),
    ...((config.gpus ?? 0) > 0 ? ['--gpus', String(config.gpus)] : []),
    ...(config.workdir === undefined ? [] : ['--workdir', config.workdir]),
    ...given.args,
    ...[image, 'sh', '-c', 'sleep infinity'],
  ]
  // By its name it can be removed also when the call that starts it is cut off.
  const remove = async () => {
    await cli.call(['rm', '--force', '--volumes', name], { signal: new AbortController().signal })
  }
  try {
    await cli.must(`start ${image}`, args, { signal })
    return { id: name, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
