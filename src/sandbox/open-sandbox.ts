// A place for untrusted code: see docs/concepts/sandbox.md for what each level withstands.
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ExecSpec, Level, Mount, Sandbox } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { type Account, accountFor, adoptTree, hasNoOther, readableSource } from './account.ts'
import { bubblewrapPlan } from './bubblewrap.ts'
import { type CgroupVersion, cgroups, innerLimits, outerLimits } from './cgroups.ts'
import { chooseLevel, isStrongEnough, type LevelProbe, type LevelWish, ladder, probeLevel } from './choose-level.ts'
import { chrootPlan } from './chroot.ts'
import { containerPlan, processPlan } from './container.ts'
import type { Launch, Plan } from './launch.ts'
import { placeDevices, placeMounts, type WritablePlace } from './place-mounts.ts'
import { Command, type CommandOptions } from './run-command.ts'
import { sandboxFailed } from './sandbox-error.ts'
import { sandboxProcess } from './sandbox-process.ts'
import { furnish, openStateFolder, type StateFolder, unnamedFile } from './state-folder.ts'
import { type Bind, hiddenBinds, type Layout, systemBinds } from './system-binds.ts'

export interface SandboxOptions extends LevelWish {
  /** Folder of this sandbox: its files stay there from one command to the next, and after it. */
  readonly stateDir: string
  /** A writable mount at `/` is the folder that commands see as their root. */
  readonly mounts?: readonly Mount[] | undefined
  /** Character devices of this machine that commands may use, a GPU for one; targets lie below /dev. */
  readonly devices?: readonly Mount[] | undefined
  /** Paths of this machine that commands must not see, also where they lie in a folder that every sandbox shows. */
  readonly hidden?: readonly string[] | undefined
  /** Commands may ask for the network. Absent: they are refused it. */
  readonly network?: boolean | undefined
  /** Processors for one command; where no control group can keep it, the sandbox is refused. */
  readonly cpus?: number | undefined
  /** Image for the level `container`. */
  readonly image?: string | undefined
}

/** Who keeps the limits of a command. */
export interface LimitsInForce {
  readonly memory: CgroupVersion | 'engine' | 'rlimit and watch'
  readonly processes: CgroupVersion | 'engine' | 'rlimit' | 'none'
  readonly disk: 'rlimit and watch'
}

export interface LocalSandbox extends Sandbox {
  readonly limits: LimitsInForce
}

/** Opens a sandbox at the strongest level that works here, or the one that is named. */
export async function openSandbox(options: SandboxOptions): Promise<LocalSandbox> {
  const probes = await probesFor(options)
  const level = chooseLevel(options, probes)
  if (level === 'container') await needImage(options.image ?? defaultImage)
  return new OpenedSandbox(level, options)
}

/** What works here, strongest first as the ladder takes them. Every level is tried. */
export async function probeSandboxes(): Promise<readonly LevelProbe[]> {
  const levels: readonly Level[] = ['bubblewrap', 'chroot', 'container']
  return await Promise.all(levels.map((level) => probeLevel(level, openAt)))
}

const defaultImage = 'debian:stable-slim'
const openAt = async (level: Level, stateDir: string) => new OpenedSandbox(level, { stateDir })

// Trying takes time: the ladder is climbed down only as far as needed.
async function probesFor({ level = 'auto', minimum }: SandboxOptions): Promise<LevelProbe[]> {
  if (level !== 'auto') return [await probeLevel(level, openAt)]
  const probes: LevelProbe[] = []
  const wanted = ladder.filter((each) => isStrongEnough(each, minimum))
  for (const each of wanted) {
    const probe = await probeLevel(each, openAt)
    probes.push(probe)
    if (probe.reason === undefined) break
  }
  return probes
}

class OpenedSandbox implements LocalSandbox {
  readonly level: Level
  readonly limits: LimitsInForce
  readonly #options: SandboxOptions
  readonly #state: StateFolder
  readonly #account: Account | undefined
  readonly #system: readonly Bind[]
  readonly #hidden: readonly Bind[]
  readonly #devices: readonly Bind[]
  readonly #running = new Set<Command>()
  readonly #writable: WritablePlace[]
  #layout: Layout
  #count = 0
  #isClosed = false

  constructor(level: Level, options: SandboxOptions) {
    this.level = level
    this.#options = options
    this.#state = openStateFolder(options.stateDir)
    // There /proc must be writable while a namespace is made, and it would be for a command that is root outside as well.
    if (level === 'chroot' && hasNoOther())
      throw sandboxFailed('the level chroot needs an account that is not root', 'install bubblewrap.')
    this.#account = this.#isOurs ? accountFor(this.#state.path) : undefined
    this.#system = systemBinds(this.#state.etc, options.network === true)
    this.#hidden = this.#isOurs ? hiddenBinds(options.hidden ?? [], join(this.#state.path, 'hidden')) : []
    this.#devices = placeDevices(options.devices ?? [], this.#state.dev)
    this.#writable = [{ named: resolve(options.stateDir, 'root'), real: this.#state.root }]
    this.limits = limitsOf(level)
    if (options.cpus !== undefined && cgroups() === undefined && level !== 'container')
      throw sandboxFailed('no control group can limit the processors of a command here', 'leave out `cpus`.')
    this.#layout = this.#place(options.mounts ?? [])
  }

  async exec(spec: ExecSpec, signal: AbortSignal) {
    return await this.#start(spec, signal, { interactive: false }).exit
  }

  async spawn(spec: ExecSpec, signal: AbortSignal) {
    return sandboxProcess((output) => this.#start(spec, signal, output), spec.limits.outputBytes)
  }

  remount(mounts: readonly Mount[]): void {
    this.#layout = this.#place(mounts)
  }

  async killAll(): Promise<void> {
    const commands = [...this.#running]
    for (const command of commands) command.kill()
    await Promise.allSettled(commands.map((command) => command.exit))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.killAll()
  }

  /** We make its namespaces, and show it the userland of this machine. */
  get #isOurs(): boolean {
    return this.level === 'bubblewrap' || this.level === 'chroot'
  }

  #place(mounts: readonly Mount[]): Layout {
    const { root, binds } = placeMounts(mounts, this.#state.root, this.#writable)
    const points = this.#isOurs ? this.#system.map(({ target }) => target) : []
    furnish(
      root,
      points.filter((each) => !each.startsWith('/etc/')),
    )
    for (const { source, target, writable } of mounts)
      if (writable === true)
        this.#writable.push({ named: resolve(source), real: target === '/' ? root : realOf(binds, target, source) })
    if (!this.#isOurs) return { root, binds }
    const copies = join(this.#state.path, 'copies')
    mkdirSync(copies, { recursive: true })
    const account = this.#account
    const readable = binds.map((bind, i) =>
      bind.writable || account === undefined
        ? bind
        : { ...bind, source: readableSource(bind.source, join(copies, String(i)), account) },
    )
    const shared: Bind = { source: this.#state.shm, target: '/dev/shm', writable: true }
    return { root, binds: [...this.#system, ...this.#hidden, shared, ...readable] }
  }

  #start(spec: ExecSpec, signal: AbortSignal, output: Pick<CommandOptions, 'onOutput' | 'interactive'>): Command {
    signal.throwIfAborted()
    if (this.#isClosed) throw sandboxFailed('the sandbox is closed')
    checkSpec(spec, this.#options)
    const layout = this.#layout
    const places = [layout.root, ...layout.binds.filter(({ writable }) => writable).map(({ source }) => source)]
    const account = this.#account
    if (account !== undefined) for (const place of places) adoptTree(place, account)
    const { cpus } = this.#options
    const groups = this.level === 'container' ? undefined : cgroups()
    const { memoryBytes, processes } = spec.limits
    // The programs that hold a command count in its group too.
    const group = groups?.make({ memoryBytes, processes: processes + 4, cpus })
    const launch: Launch = {
      spec,
      layout,
      devices: this.#devices,
      state: this.#state,
      doors: group?.doors ?? [],
      outerLimits: outerLimits(spec.limits, group === undefined),
      innerLimits: innerLimits(spec.limits),
      account,
    }
    const common = { spec, signal, places, ...output, group }
    try {
      const command = new Command({ ...common, ...this.#planned(launch) })
      this.#running.add(command)
      const forget = () => this.#running.delete(command)
      command.exit.then(forget, forget)
      return command
    } catch (cause) {
      group?.remove()
      throw cause
    }
  }

  #planned(launch: Launch) {
    if (this.level === 'process') return { ...processPlan(launch), files: [], contained: false }
    if (this.level === 'container') {
      const plan = containerPlan(launch, this.#options.image ?? defaultImage)
      return { ...plan, files: [], contained: false, brokenCode: 125 }
    }
    const plan: Plan = this.level === 'bubblewrap' ? bubblewrapPlan(launch) : chrootPlan(launch)
    this.#count += 1
    const files = plan.files.map((content, i): CommandOptions['files'][number] => {
      if (typeof content === 'object' && 'reports' in content) return content
      if (content.length === 0) return 'ignore'
      return unnamedFile(this.#state.commands, `${process.pid}-${this.#count}-${i}`, content, this.#account)
    })
    return { argv: plan.argv, env: plan.env, files, contained: true }
  }
}

function limitsOf(level: Level): LimitsInForce {
  const version = cgroups()?.version
  const disk = 'rlimit and watch'
  if (level === 'container') return { memory: 'engine', processes: 'engine', disk }
  // Without a separate namespace, the count of an account's processes would include all others of it.
  const processes = version ?? (level === 'process' ? 'none' : 'rlimit')
  return { memory: version ?? 'rlimit and watch', processes, disk }
}

function checkSpec({ argv, env = {}, cwd, network, limits }: ExecSpec, options: SandboxOptions): void {
  if (network === true && options.network !== true)
    throw sandboxFailed(
      'the command asks for the network, which this sandbox does not allow',
      'open it with network: true.',
    )
  if (argv.length === 0) throw sandboxFailed('a command has no program')
  for (const text of [...argv, cwd ?? '', ...Object.values(env)])
    if (text.includes('\0')) throw sandboxFailed('a command holds the character NUL')
  for (const name of Object.keys(env))
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw sandboxFailed(`a variable is called ${JSON.stringify(name)}`, 'names are letters, digits and `_`.')
  for (const [name, value] of Object.entries(limits))
    if (!Number.isFinite(value) || value <= 0)
      throw sandboxFailed(`the limit ${name} is ${value}`, 'give a number above 0.')
}

function realOf(binds: readonly Bind[], target: string, source: string): string {
  return binds.find((bind) => bind.target === target)?.source ?? resolve(source)
}

function needImage(image: string): Promise<void> {
  return new Promise((done, reject) => {
    execFile('docker', ['image', 'inspect', '--format', '{{.Id}}', image], { timeout: 10_000 }, (error) => {
      if (error === null) return done()
      const fix = `\`docker pull ${image}\`, or name another image.`
      reject(new EvsysError('SANDBOX_MISSING', `the container image ${image} is not on this machine`, { fix }))
    })
  })
}
