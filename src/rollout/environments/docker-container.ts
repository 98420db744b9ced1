// Containers of the docker program: their image, the services around them, their variables, and whose they are.

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { identify, isAlive } from '../../kernel/index.ts'
import { type DockerCli, outputTail } from './docker-cli.ts'
import { composeFile } from './dockerfile.ts'
import { limitParams } from './environment-commands.ts'
import { type EnvironmentDefinition, environmentError, hasNetwork, refusal } from './environment-definition.ts'

export const DockerParams = z.strictObject({
  program: z
    .string()
    .min(1)
    .default('docker')
    .describe('Program that is called: docker, or one that takes its arguments.'),
  force_build: z
    .boolean()
    .default(false)
    .describe('Builds the Dockerfile also where the task names an image, or it is built.'),
  ...limitParams,
})

export type DockerParams = z.output<typeof DockerParams>

export interface DockerOptions {
  readonly definition: EnvironmentDefinition
  readonly stateDir: string
  readonly params: DockerParams
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** A container that runs, and how it is taken away. */
export interface StartedContainer {
  readonly id: string
  remove(): Promise<void>
}

// The image of an environment: pulled where the task names one, else built from its Dockerfile. A built image is named after what
// it is built from, as Harbor does, so that both use one cache.

// One build of an image at a time: the second finds it done.
const building = new Map<string, Promise<void>>()

/** Makes sure that the image is there, and names it. */
export async function prepareImage(
  docker: DockerCli,
  { config, contextDir }: EnvironmentDefinition,
  { forceBuild, signal }: { forceBuild: boolean; signal: AbortSignal },
): Promise<string> {
  const files = await readdir(contextDir)
  const isBuilt = files.includes('Dockerfile') && (config.docker_image === undefined || forceBuild)
  if (!isBuilt && config.docker_image === undefined) {
    const instead =
      composeFile(contextDir) === undefined ? 'neither docker_image nor a Dockerfile' : 'a compose file alone'
    throw refusal('docker', `it has ${instead}`, 'write environment/Dockerfile, or docker_image in task.toml.')
  }
  const image = isBuilt ? `hb__${await environmentId(contextDir)}` : (config.docker_image ?? '')
  const key = `${docker.program} ${image}`
  // One that another caller cancels is begun again.
  const others = building.get(key)?.catch((error: unknown) => (signal.aborted ? Promise.reject(error) : provide()))
  const work = others ?? provide()
  building.set(key, work)
  try {
    await work
  } finally {
    if (building.get(key) === work) building.delete(key)
  }
  return image

  async function provide(): Promise<void> {
    const found = await docker.call(['image', 'inspect', '--format', '{{.Id}}', image], { signal })
    if (found.code === 0 && !(isBuilt && forceBuild)) return
    const answer = await docker.call(isBuilt ? ['build', '--tag', image, contextDir] : ['pull', image], { signal })
    if (answer.code === 0) return
    const what = isBuilt ? `build ${join(contextDir, 'Dockerfile')}` : `pull ${image}`
    const fix = 'correct what it names; the same command by hand shows all of its output.'
    throw environmentError('SandboxBuildFailedError', `docker could not ${what}: ${outputTail(answer)}`, fix)
  }
}

const ignored = new Set(['.DS_Store', '.git', '__pycache__'])

/** Names the content of a build context: Harbor's id of an environment. */
export async function environmentId(contextDir: string): Promise<string> {
  const hash = createHash('sha256')
  const files = await filesBelow(contextDir, '')
  for (const file of files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    for (const part of [Buffer.from(file), await readFile(join(contextDir, file))]) {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      hash.update(length).update(part)
    }
  }
  return hash.digest('hex').slice(0, 32)
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const files: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    if (ignored.has(entry.name)) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) files.push(...(await filesBelow(root, path)))
    else if (entry.isFile()) files.push(path)
  }
  return files
}

// Tasks with services of their own: the compose file of the task over a base for the service `main`, in which the agent works.

/** Starts all services; the container is that of `main`. */
export async function startCompose(cli: DockerCli, options: DockerOptions, file: string): Promise<StartedContainer> {
  const { definition, stateDir, signal } = options
  const answer = await cli.call(['compose', 'version'], { signal })
  if (answer.code !== 0) {
    const why = `it has services of its own (${file}), and docker compose does not answer: ${outputTail(answer)}`
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
      const message = `docker compose could not start ${file}: ${outputTail(started)}`
      const fix = 'correct what it names; `docker compose up` in the folder shows all of its output.'
      throw environmentError('SandboxBuildFailedError', message, fix)
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
        cpus: config.cpus,
        working_dir: config.workdir,
      },
    },
  }
}

// Variables for a container. They go through a file: neither the list of processes nor the docker program itself, which takes
// orders from its own variables, gets to see what a task sets.

/** Arguments that set `env`; the file that they name is removed in the end. */
export async function envArguments(
  env: Readonly<Record<string, string>>,
  stateDir: string,
): Promise<{ args: string[] } & AsyncDisposable> {
  const entries = Object.entries(env)
  // The file has one line for each, and no way to write another.
  const inFile = entries.filter(([key, value]) => /^[A-Za-z_][\w.-]*$/.test(key) && !/[\r\n]/.test(value))
  const others = entries.filter((entry) => !inFile.includes(entry))
  const args = others.flatMap(([key, value]) => ['--env', `${key}=${value}`])
  if (inFile.length === 0) return { args, [Symbol.asyncDispose]: async () => undefined }
  await mkdir(stateDir, { recursive: true })
  const file = join(stateDir, `env-${randomBytes(8).toString('hex')}`)
  await writeFile(file, inFile.map(([key, value]) => `${key}=${value}\n`).join(''), { mode: 0o600 })
  return { args: ['--env-file', file, ...args], [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

// Whose a container is: a label names the process that started it, so that containers of processes that were killed are found and
// removed by the next one.

const ownerLabel = 'evsys.owner'
const taskLabel = 'evsys.task'

/** The label of this process: machine, pid, and when it started. */
export function ownerOfThis(): string {
  const { pid, start } = identify()
  return `${hostname()}/${pid}/${start}`
}

/** Labels by which a container of a task is found again. */
export function containerLabels(task: string): Record<string, string> {
  return { [ownerLabel]: ownerOfThis(), [taskLabel]: task }
}

/** Whether the process that a label names is gone for good. Of another machine that is not known. */
export function isOrphan(label: string): boolean {
  const [host, pid, start = ''] = label.split('/')
  return host === hostname() && pid !== undefined && /^\d+$/.test(pid) && !isAlive({ pid: Number(pid), start })
}

/** Removes containers whose process is gone. Best effort; returns how many. */
export async function removeOrphans(docker: DockerCli, signal: AbortSignal): Promise<number> {
  const format = `{{.ID}}\t{{.Label "${ownerLabel}"}}`
  const listed = await docker.call(
    ['ps', '--all', '--no-trunc', '--filter', `label=${ownerLabel}`, '--format', format],
    { signal },
  )
  if (listed.code !== 0) return 0
  const orphans = listed.stdout
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([id, owner]) => id !== undefined && id !== '' && owner !== undefined && isOrphan(owner))
    .flatMap(([id]) => id ?? [])
  for (const id of orphans) await docker.call(['rm', '--force', '--volumes', id], { signal })
  return orphans.length
}
