// Tasks with services of their own: the compose file of the task over a base for the service `main`, in which the agent works.
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasNetwork } from './check-network.ts'
import { type DockerCli, lastWords } from './docker-cli.ts'
import type { DockerOptions, StartedContainer } from './docker-options.ts'
import { containerLabels } from './docker-owner.ts'
import { refusal, SandboxBuildFailedError } from './environment-error.ts'

/** Starts all services; the container is that of `main`. */
export async function startCompose(cli: DockerCli, options: DockerOptions, file: string): Promise<StartedContainer> {
  const { definition, stateDir, signal } = options
  const answer = await cli.call(['compose', 'version'], { signal })
  if (answer.code !== 0) {
    const why = `it has services of its own (${file}), and docker compose does not answer: ${lastWords(answer)}`
    throw refusal('docker', why, 'install the compose plugin of docker.')
  }
  if (!hasNetwork(definition.network)) {
    const why = `it has services of its own (${file}) and no network: they could not reach one another`
    throw refusal('docker', why, 'allow the network in task.toml.')
  }
  const project = `evsys-${randomBytes(8).toString('hex')}`
  await mkdir(stateDir, { recursive: true })
  const base = join(stateDir, 'compose-base.json')
  await writeFile(base, JSON.stringify(baseServices(options)), { mode: 0o600 })
  const compose = ['compose', '--project-name', project, '--file', base, '--file', join(definition.contextDir, file)]
  const remove = async () => {
    await cli.call([...compose, 'down', '--volumes', '--remove-orphans'], { signal: new AbortController().signal })
  }
  try {
    const started = await cli.call([...compose, 'up', '--detach', '--build', '--wait'], { signal })
    if (started.code !== 0) {
      throw new SandboxBuildFailedError(`docker compose could not start ${file}: ${lastWords(started)}`, {
        fix: 'correct what it names; `docker compose up` in the folder shows all of its output.',
      })
    }
    const id = await cli.must('find the service main', [...compose, 'ps', '--quiet', 'main'], { signal })
    return { id, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function baseServices({ definition, params }: DockerOptions): object {
  const { config, contextDir, env } = definition
  const { docker_image: image } = config
  return {
    services: {
      main: {
        ...(image === undefined ? { build: { context: contextDir } } : { image }),
        command: ['sh', '-c', 'sleep infinity'],
        labels: containerLabels(definition.task.name),
        // A dollar would be taken for a variable of this machine.
        environment: Object.fromEntries(
          Object.entries(env).map(([key, value]) => [key, value.replaceAll('$', '$$$$')]),
        ),
        mem_limit: `${config.memory_mb ?? params.memory_mb}m`,
        pids_limit: params.processes,
        ...(config.cpus === undefined ? {} : { cpus: config.cpus }),
        ...(config.workdir === undefined ? {} : { working_dir: config.workdir }),
      },
    },
  }
}
