// A container as an environment. Time limits are kept inside, where the processes are: ending the docker program would leave them.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type {
  EnvironmentCommand,
  ExecResult,
  ExecSpec,
  OpenEnvironment,
  SandboxProcess,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type DockerCli, spawnInContainer } from './docker-cli.ts'
import { type DockerOptions, envArguments, type StartedContainer } from './docker-container.ts'
import { commandLimits, logFolders } from './environment-commands.ts'
import { hasNetwork, refusal } from './environment-definition.ts'
import { copyOut, readStateFile, type StateFolders } from './state-copy.ts'

// Scripts that end processes inside a container, where alone they can be seen. A command and what it starts carry a mark in their
// variables; the end of the agent's phase ends everything that the image did not start itself.

const scripts = fileURLToPath(new URL('../../../templates/rollout', import.meta.url))
const script = (name: string) => readFileSync(join(scripts, name), 'utf8')

/** Marks a command and its children. */
const variable = 'EVSYS_COMMAND'

/** Prints the numbers of the processes that run now, except those that look. */
const keptProcesses = 'for p in /proc/[0-9]*; do p=${p#/proc/}; [ "$p" = "$$" ] || echo "$p"; done'

/**
 * Ends the command with the mark `$1`: everything that has the mark, and all descendants of it, again until none is found. Twice
 * around is enough for processes that do not fork on; more, for those that do.
 */
const killCommand = script('kill-command.sh')

/** Ends all processes but the first, this one, and those whose numbers are its arguments. */
const killOthers = script('kill-others.sh')

// The workdir, the folders of logs that every account may write to, and the processes that run already.
const prepare = `mkdir -p -- "$1" || exit 1
shift
for d in "$@"; do mkdir -p -- "$d" && chmod 0777 -- "$d" || exit 1; done
${keptProcesses}`

export class DockerEnvironment implements OpenEnvironment {
  readonly level = 'container'
  readonly workdir: string
  readonly #cli: DockerCli
  readonly #container: StartedContainer
  readonly #options: DockerOptions
  readonly #kept: readonly string[]
  #closed: Promise<void> | undefined

  private constructor(
    cli: DockerCli,
    container: StartedContainer,
    options: DockerOptions,
    workdir: string,
    kept: readonly string[],
  ) {
    this.#cli = cli
    this.#container = container
    this.#options = options
    this.workdir = workdir
    this.#kept = kept
  }

  static async enter(cli: DockerCli, container: StartedContainer, options: DockerOptions): Promise<DockerEnvironment> {
    const { signal, definition, stateDir } = options
    const format = '{{.Config.WorkingDir}}'
    const inspected = await cli.must('inspect the container', ['inspect', '--format', format, container.id], { signal })
    const workdir = definition.config.workdir ?? (inspected === '' ? '/' : inspected)
    await mkdir(stateDir, { recursive: true })
    // What runs before the agent belongs to the image: it outlives the agent.
    const kept = await cli.must('prepare the container', asRoot(container.id, prepare, workdir, ...logFolders), {
      signal,
    })
    return new DockerEnvironment(cli, container, options, workdir, kept.split(/\s+/))
  }

  async exec(command: EnvironmentCommand, signal: AbortSignal): Promise<ExecResult> {
    await using call = await this.#call(command)
    const { args, limits, mark } = call
    const timeUp = new AbortController()
    const timer = setTimeout(() => timeUp.abort(), limits.timeoutMs)
    // The caller's end and the end of the time are the same to the processes inside.
    const ended = AbortSignal.any([signal, timeUp.signal])
    const kill = () => void this.#kill(mark)
    ended.addEventListener('abort', kill, { once: true })
    try {
      // Killed inside, the call ends by itself and brings what was said until then; a container that hangs is cut off.
      const { stdin } = command
      const answer = await this.#cli.call(args, { outputBytes: limits.outputBytes, signal: patience(ended), stdin })
      signal.throwIfAborted()
      if (!timeUp.signal.aborted) await this.#mustRun(answer.code, answer.stderr)
      const { code: exitCode, ...rest } = answer
      return timeUp.signal.aborted
        ? { ...rest, exitCode: null, signal: 'SIGKILL', limitHit: 'timeoutMs' }
        : { ...rest, exitCode }
    } finally {
      clearTimeout(timer)
      ended.removeEventListener('abort', kill)
    }
  }

  async spawn(command: EnvironmentCommand, signal: AbortSignal): Promise<SandboxProcess> {
    const call = await this.#call({ ...command, stdin: '' })
    const { args, limits, mark } = call
    const closed = async () => call[Symbol.asyncDispose]()
    return spawnInContainer(this.#cli, { args, limits, signal, closed, kill: () => this.#kill(mark) })
  }

  async read(path: string): Promise<Uint8Array> {
    return await this.#fetched(path, async (state, copy) => await readStateFile(state, copy))
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const file = this.#scratch()
    await writeFile(file, bytes)
    try {
      await this.upload(file, path)
    } finally {
      await rm(file, { force: true })
    }
  }

  async upload(source: string, target: string): Promise<void> {
    const inside = this.#inside(target)
    const isFolder = (await lstat(source)).isDirectory()
    const clear = '[ -d "$1" ] && [ ! -L "$1" ] || rm -rf -- "$1"; '
    await this.#asRoot(
      isFolder
        ? `${clear}mkdir -p -- "$1"`
        : `[ ! -e "$1" ] && [ ! -L "$1" ] || rm -rf -- "$1"; mkdir -p -- "$(dirname -- "$1")"`,
      inside,
    )
    await this.#copy(isFolder ? `${source}/.` : source, `${this.#container.id}:${inside}`)
  }

  async download(source: string, target: string): Promise<void> {
    await this.#fetched(source, async (state, copy) => await copyOut(state, copy, target))
  }

  async empty(path: string): Promise<void> {
    // A folder that is mounted cannot be removed, its content can.
    const script = `[ -d "$1" ] && [ ! -L "$1" ] || rm -rf -- "$1"
mkdir -p -- "$1" && cd -- "$1" && for f in ..?* .[!.]* *; do if [ -e "$f" ] || [ -L "$f" ]; then rm -rf -- "$f"; fi; done
chmod 0777 -- "$1"`
    await this.#asRoot(script, this.#inside(path))
  }

  async killAll(): Promise<void> {
    await this.#asRoot(killOthers, ...this.#kept)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#container.remove()
    await this.#closed
  }

  async #call({ argv, cwd, env = {}, user, network, stdin, limits: own }: EnvironmentCommand) {
    const { definition, params } = this.#options
    if (network !== undefined && network !== hasNetwork(definition.network)) {
      const why = 'a command wants another network than its container has'
      throw refusal('docker', why, 'let all phases have one policy.')
    }
    const mark = randomBytes(8).toString('hex')
    const given = await envArguments(env, this.#options.stateDir)
    const args = [
      ...['exec', ...(stdin === undefined ? [] : ['--interactive']), '--workdir', this.#inside(cwd ?? this.workdir)],
      ...(user === undefined ? [] : ['--user', String(user)]),
      ...[...given.args, '--env', `${variable}=${mark}`],
      ...[this.#container.id, ...argv],
    ]
    const limits: ExecSpec['limits'] = commandLimits(params, definition.config, own)
    return { args, limits, mark, [Symbol.asyncDispose]: () => given[Symbol.asyncDispose]() }
  }

  async #kill(mark: string): Promise<void> {
    await this.#asRoot(killCommand, mark).catch(() => undefined) // a container that is gone has no processes
  }

  async #asRoot(script: string, ...args: string[]): Promise<void> {
    const { signal } = new AbortController()
    const what = asRoot(this.#container.id, script, ...args)
    await this.#cli.must('change files or processes of the container', what, { signal })
  }

  async #copy(from: string, to: string): Promise<void> {
    await this.#cli.must(`copy ${from} to ${to}`, ['cp', from, to], { signal: new AbortController().signal })
  }

  // A copy beside the trial first: links in it are looked at before anything is read.
  async #fetched<T>(path: string, use: (state: StateFolders, copy: string) => Promise<T>): Promise<T> {
    const folder = this.#scratch()
    await mkdir(folder)
    try {
      const inside = this.#inside(path)
      await this.#copy(`${this.#container.id}:${inside}`, join(folder, 'copy'))
      const downloadBytes = this.#options.params.max_download_mb * 2 ** 20
      const state = { places: [{ target: '/', source: folder }], trash: join(folder, 'trash'), downloadBytes }
      return await use(state, '/copy')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async #mustRun(code: number | null, stderr: string): Promise<void> {
    if (code === 0 || !/^(?:Error response from daemon|Error: No such container|OCI runtime)/m.test(stderr)) return
    const { signal } = new AbortController()
    const state = await this.#cli.call(['inspect', '--format', '{{.State.Running}}', this.#container.id], { signal })
    if (state.code === 0 && state.stdout.trim() === 'true') return
    throw new EvsysError('ENVIRONMENT_FAILED', `the container of the trial is gone: ${stderr.trim().slice(0, 200)}`, {
      fix: 'look at the log of the docker engine; a container that takes too much memory is ended by it.',
    })
  }

  #scratch(): string {
    return join(this.#options.stateDir, `copy-${randomBytes(8).toString('hex')}`)
  }

  #inside(path: string): string {
    return posix.resolve(this.workdir, path)
  }
}

function asRoot(container: string, script: string, ...args: string[]): string[] {
  return ['exec', '--user', '0', '--workdir', '/', container, 'sh', '-c', script, 'sh', ...args]
}

/** How long a call may run after its command was killed inside. */
const patienceMs = 10_000

function patience(ended: AbortSignal): AbortSignal {
  const late = new AbortController()
  const wait = () => setTimeout(() => late.abort(new Error('docker did not end a command in time')), patienceMs).unref()
  if (ended.aborted) wait()
  else ended.addEventListener('abort', wait, { once: true })
  return late.signal
}
