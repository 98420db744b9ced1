// The environment `local`: a sandbox of this machine. Commands see the programs of the machine, read-only, over a root folder of
// the trial; /logs is mounted, /tests is there once it is uploaded.

import { mkdir, open } from 'node:fs/promises'
import { join, posix } from 'node:path'
import * as z from 'zod'
import {
  type EnvironmentCommand,
  type ExecSpec,
  Level,
  type Mount,
  type OpenEnvironment,
  type Sandbox,
} from '../../contracts/index.ts'
import { defineEnvironment, EvsysError } from '../../kernel/index.ts'
import { openSandbox } from '../../sandbox/index.ts'
import { sandboxPath } from './dockerfile.ts'
import { commandLimits, limitParams, logFolders, runHealthcheck } from './environment-commands.ts'
import {
  type EnvironmentDefinition,
  environmentDefinition,
  hasNetwork,
  networkFaults,
  refusal,
} from './environment-definition.ts'
import { isRoot } from './plan-dockerfile.ts'
import { buildLocally, planEnvironment } from './plan-environment.ts'
import { removeDeepTree } from './remove-tree.ts'
import { copyIn, copyOut, emptyFolder, readStateFile, type StateFolders, writeStateFile } from './state-copy.ts'

const params = z.strictObject({
  level: Level.exclude(['process']).optional().describe('Level of the sandbox; absent: the strongest that works here.'),
  network: z.boolean().default(false).describe('Lets a task that allows the network reach it; else no command does.'),
  ...limitParams,
})

type LocalParams = z.output<typeof params>

export const local = defineEnvironment({
  kind: 'local',
  summary: 'A sandbox of this machine: its programs, read-only, over files of the trial; no network unless allowed.',
  params,
  needs: { sandbox: true },
  open: async ({ folder, stateDir, params: given, log, signal }): Promise<OpenEnvironment> => {
    if (folder === undefined) throw refusal('local', 'it is a row without a folder', 'use the environment `inline`.')
    const definition = await environmentDefinition(folder, process.env)
    const { level } = given
    const warn = (text: string) => log('warn', text)
    return await openLocalEnvironment({ definition, stateDir, params: given, log: warn, signal, level })
  },
})

// Opens and holds a local environment: what the plan says is done in its sandbox, then commands and files go through it.
interface LocalOptions {
  readonly definition: EnvironmentDefinition
  readonly stateDir: string
  readonly params: LocalParams
  readonly level: LocalParams['level']
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

const openToAll = 0o777

/** Opens the environment: plans, builds, and waits until it is healthy. What fails leaks nothing. */
async function openLocalEnvironment(options: LocalOptions): Promise<OpenEnvironment> {
  const { definition, params, log, signal } = options
  const plan = planEnvironment(definition)
  const faults = networkFaults(definition, { perPhase: true })
  if (plan.status === 'needs-image' || faults.length > 0) {
    const reasons = [...(plan.status === 'needs-image' ? plan.reasons : []), ...faults]
    const fix = 'use the environment `docker` where it can; docs/concepts/task-folders.md says what each runs.'
    throw refusal('local', reasons.join('; '), fix)
  }
  for (const warning of plan.warnings) log(warning)
  if (hasNetwork(definition.network) && !params.network) {
    log('the task allows the network, and gets none: `network: true` of the environment "local" gives it')
  }
  const env = { PATH: sandboxPath, HOME: '/root', LANG: 'C.UTF-8', ...plan.env }
  const environment = await LocalEnvironment.start(options, env)
  try {
    await buildLocally(environment, plan.steps, signal)
    environment.enter(plan.workdir, definition.env)
    const { healthcheck } = definition.config
    if (healthcheck !== undefined) await runHealthcheck(environment, healthcheck, signal)
    return environment
  } catch (error) {
    await environment[Symbol.asyncDispose]()
    throw error
  }
}

class LocalEnvironment implements OpenEnvironment {
  readonly level: Sandbox['level']
  workdir = '/'
  readonly #options: LocalOptions
  readonly #sandbox: Sandbox
  readonly #state: StateFolders
  #env: Readonly<Record<string, string>>
  #closed: Promise<void> | undefined

  private constructor(
    options: LocalOptions,
    sandbox: Sandbox,
    state: StateFolders,
    env: Readonly<Record<string, string>>,
  ) {
    this.level = sandbox.level
    this.#options = options
    this.#sandbox = sandbox
    this.#state = state
    this.#env = env
  }

  static async start(options: LocalOptions, env: Readonly<Record<string, string>>): Promise<LocalEnvironment> {
    const { stateDir, definition, params } = options
    const mounts: Mount[] = [
      { source: join(stateDir, 'root'), target: '/', writable: true },
      ...logFolders.map((target) => ({ source: join(stateDir, target), target, writable: true })),
    ]
    for (const { source, target } of mounts) await makeFolder(source, target === '/' ? 0o755 : openToAll)
    for (const name of ['root', 'tmp', 'home', 'var', 'opt', 'srv']) {
      await makeFolder(join(stateDir, 'root', name), name === 'tmp' ? 0o1777 : 0o755)
    }
    const isAllowed = [definition.network, ...definition.phases.map(({ network }) => network)].some(hasNetwork)
    const network = params.network && isAllowed
    const sandbox = await openSandbox({ stateDir: join(stateDir, 'sandbox'), mounts, network, level: options.level })
    const state = { places: mounts, trash: join(stateDir, 'trash'), downloadBytes: params.max_download_mb * 2 ** 20 }
    return new LocalEnvironment(options, sandbox, state, env)
  }

  /** What holds from now on: the build is over. */
  enter(workdir: string, env: Readonly<Record<string, string>>): void {
    this.workdir = workdir
    this.#env = { ...this.#env, ...env }
  }

  async exec(command: EnvironmentCommand, signal: AbortSignal) {
    return await this.#sandbox.exec(this.#spec(command), signal)
  }

  async spawn(command: EnvironmentCommand, signal: AbortSignal) {
    return await this.#sandbox.spawn(this.#spec(command), signal)
  }

  async read(path: string): Promise<Uint8Array> {
    return await readStateFile(this.#state, this.#inside(path))
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await writeStateFile(this.#state, this.#inside(path), bytes)
  }

  async upload(source: string, target: string): Promise<void> {
    await copyIn(this.#state, source, this.#inside(target))
  }

  async download(source: string, target: string): Promise<void> {
    await copyOut(this.#state, this.#inside(source), target)
  }

  async empty(path: string): Promise<void> {
    const inside = this.#inside(path)
    const isLog = this.#state.places.some(({ target }) => target !== '/' && target === inside)
    await emptyFolder(this.#state, inside, isLog ? openToAll : 0o755)
  }

  async killAll(): Promise<void> {
    await this.#sandbox.killAll()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async #close(): Promise<void> {
    await this.#sandbox.killAll()
    await this.#sandbox[Symbol.asyncDispose]()
    await makeFolder(this.#state.trash, 0o700)
    const { stateDir } = this.#options
    for (const name of ['root', 'logs', 'sandbox']) await removeIfThere(join(stateDir, name), this.#state.trash)
    await removeIfThere(this.#state.trash, stateDir)
  }

  #spec({ user, limits, cwd, env, network, ...command }: EnvironmentCommand): ExecSpec {
    if (user !== undefined && !isRoot(user)) {
      throw refusal('local', `a command runs as the account ${user}`, 'use the environment `docker`.')
    }
    const { definition, params } = this.#options
    const wants = network ?? hasNetwork(definition.network)
    return {
      ...command,
      cwd: this.#inside(cwd ?? this.workdir),
      env: { ...this.#env, ...env },
      network: wants && params.network,
      limits: commandLimits(params, definition.config, limits),
    }
  }

  #inside(path: string): string {
    return posix.resolve(this.workdir, path)
  }
}

async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true })
  await using folder = await open(path, 'r')
  await folder.chmod(mode) // whatever the mask of this process
}

async function removeIfThere(path: string, trash: string): Promise<void> {
  await removeDeepTree(path, trash).catch((cause: unknown) => {
    if (Reflect.get(Object(cause), 'code') === 'ENOENT') return
    const message = `files of an environment are left at ${path}`
    throw new EvsysError('ENVIRONMENT_FAILED', message, { cause, fix: 'remove them.' })
  })
}
