// A sandbox around one long-lived process that runs foreign code, such as a run worker. It sees what it is shown and nothing else, at the
// paths where that lies outside. Folders are shown and taken away while it lives, so that one process does many runs of which none sees
// the files of another. Outside it is the user who runs evsys, without any rights; nothing but its folders is writable.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { ExecSpec, Level, Mount } from '../contracts/index.ts'
import { identify, isAlive, type ProcessChannel, type ProcessIdentity, temporaryFolder } from '../kernel/index.ts'
import { disablesNamespaces } from './bubblewrap.ts'
import { cgroups, type Group, innerLimits, outerLimits } from './cgroups.ts'
import { forgetLevel } from './kept-level.ts'
import { isWithin } from './proc-files.ts'
import { type View, type ViewMount, viewLaunch } from './process-view.ts'
import { sandboxFailed } from './sandbox-error.ts'
import { openStateFolder, unnamedFile } from './state-folder.ts'
import { systemBinds } from './system-binds.ts'
import { treeOf, watchUsage } from './watch-usage.ts'

/** What all its processes may take together. */
export type ProcessLimits = Pick<ExecSpec['limits'], 'memoryBytes' | 'processes' | 'diskBytes'>

export interface ProcessSandboxOptions {
  readonly level: ProcessLevel
  /** What it sees besides the userland of this machine; read-only where it is not said. Later ones lie over earlier ones. */
  readonly mounts: readonly Mount[]
  /** Paths below those that it must not see. */
  readonly hidden: readonly string[]
  /** Folder in which others are shown while it lives; absent: none are. */
  readonly shownIn?: string | undefined
  readonly network: boolean
  readonly limits: ProcessLimits
}

/** Levels that can hold a process of ours; `container` has other programs. */
export type ProcessLevel = Extract<Level, 'bubblewrap' | 'chroot'>

export type ProcessSandbox = ShutInProcess

/** Makes the place. The process is started by `launch`, once. */
export function openProcessSandbox(options: ProcessSandboxOptions): ProcessSandbox {
  return new ShutInProcess(options)
}

/** How often what no control group counts is looked at: the limits of single processes hold in between. */
const memoryEveryMs = 100

class ShutInProcess {
  readonly level: ProcessLevel
  /** Folder of this machine that is /tmp inside. */
  readonly tmp: string
  readonly #options: ProcessSandboxOptions
  readonly #folder: string
  readonly #slots: string
  readonly #view: View
  readonly #group: Group | undefined
  readonly #shown = new Map<string, string>()
  #pid: number | undefined
  #identity: readonly ProcessIdentity[] = []
  #helper: ProcessChannel | undefined
  #answers: ((line: string) => void)[] = []
  #resting = 0

  constructor(options: ProcessSandboxOptions) {
    const { level, limits, network } = options
    this.level = level
    this.#options = options
    this.#folder = realpathSync(temporaryFolder('worker'))
    const folder = (name: string) => {
      const path = join(this.#folder, name)
      mkdirSync(path, { mode: 0o755 })
      return path
    }
    const state = openStateFolder(join(this.#folder, 'state'))
    this.tmp = folder('tmp')
    this.#slots = folder('slots')
    const root = folder('root')
    for (const name of ['proc', 'dev', 'run', 'var', 'opt', 'home', 'mnt', 'srv']) mkdirSync(join(root, name))
    const mark = `/run/${randomBytes(16).toString('hex')}`
    writeFileSync(join(root, mark), '')
    for (const name of ['home', 'cache']) mkdirSync(join(this.tmp, name))
    const wanted: ViewMount[] = [
      ...systemBinds(state.etc, network),
      { source: this.tmp, target: '/tmp', writable: true },
      { source: folder('shm'), target: '/dev/shm', writable: true },
      ...ordered([
        ...options.mounts.map(({ source, target, writable = false }) => ({ source, target, writable })),
        ...(options.shownIn === undefined ? [] : [{ source: this.#slots, target: options.shownIn, writable: false }]),
        ...this.#masks(options.hidden, options.mounts),
      ]),
    ]
    const mounts = this.#placed(wanted, root)
    this.#group = cgroups()?.make({ memoryBytes: limits.memoryBytes, processes: limits.processes + helpers })
    this.#view = {
      level,
      root,
      mark,
      dev: state.dev,
      mounts: level === 'chroot' ? mounts.flatMap(withSubmounts) : mounts,
      slots: this.#slots,
      hold: folder('hold'),
      network,
      doors: this.#group?.doors ?? [],
      outerLimits: outerLimits({ ...limits, timeoutMs: 1, outputBytes: 1 }, this.#group === undefined),
      innerLimits: innerLimits({ ...limits, timeoutMs: 1, outputBytes: 1 }),
      disablesNamespaces: level === 'bubblewrap' && disablesNamespaces(),
    }
  }

  /** The command line that starts `command` inside; its open files are 6, a channel of ours, and those that follow. */
  launch(command: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const own = { ...env, HOME: '/tmp/home', TMPDIR: '/tmp', XDG_CACHE_HOME: '/tmp/cache' }
    const launched = viewLaunch(this.#view, command, { cwd, env: own })
    const files = launched.files.map((content, i) =>
      content.length === 0 ? ('ignore' as const) : unnamedFile(this.#folder, `orders-${i}`, content),
    )
    return {
      argv: launched.argv,
      env: launched.env,
      stdio: ['pipe' as const, ...files],
      /** The process was started, or could not be. */
      started: (pid: number | undefined, channel: ProcessChannel | undefined) => {
        for (const file of files) if (file !== 'ignore') closeSync(file)
        this.#pid = pid
        this.#helper = channel
        let rest = ''
        channel?.setEncoding('utf8')
        channel?.on('data', (text: string) => {
          const lines = `${rest}${text}`.split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) this.#answers.shift()?.(line)
        })
        channel?.once('close', () => {
          for (const answer of this.#answers.splice(0)) answer('1 it is gone')
        })
      },
    }
  }

  /** What it is at rest: later processes are the work of foreign code. */
  settled(): void {
    const tree = this.#tree()
    this.#resting = tree.length
    this.#identity = tree.map((pid) => identify(pid))
  }

  /** Whether nothing that it started is left. */
  isAlone(): boolean {
    return this.#resting > 0 && this.#tree().length <= this.#resting
  }

  /** Shows `source`, which lies in the folder of `shownIn`. */
  async show(source: string, { writable }: { readonly writable: boolean }): Promise<void> {
    const { shownIn } = this.#options
    const name = shownIn === undefined ? '..' : relative(shownIn, source)
    if (name.startsWith('..') || /[\n\0]/.test(source)) throw sandboxFailed(`${source} cannot be shown in ${shownIn}`)
    if (this.#shown.has(name)) return
    mkdirSync(join(this.#slots, name), { recursive: true })
    this.#shown.set(name, source)
    await this.#order(writable ? 'show' : 'lend', source, name)
  }

  /** Takes away what was shown. Rejects while something inside still uses it. */
  async hideAll(): Promise<void> {
    for (const name of [...this.#shown.keys()].reverse()) {
      await this.#order('hide', '-', name)
      this.#shown.delete(name)
      for (let at = name; at !== '.'; at = dirname(at)) {
        try {
          rmdirSync(join(this.#slots, at))
        } catch {
          break // others are shown in it
        }
      }
    }
  }

  /** Looks after the limits that the kernel does not keep until it is stopped. `folders`: where it may write beside its own. */
  watch(folders: readonly string[], onOver: (limit: keyof ProcessLimits) => void): () => void {
    const pid = this.#pid
    if (pid === undefined) return () => {}
    const { limits } = this.#options
    const watched = { pid, limits: { ...limits, timeoutMs: 1, outputBytes: 1 }, onOver }
    const places = [this.tmp, join(this.#folder, 'shm'), ...folders]
    const isUncounted = this.#group === undefined
    const usage = watchUsage({ ...watched, memory: isUncounted, places, memoryEveryMs })
    const look = () => {
      if (this.limitHit() === 'memoryBytes') onOver('memoryBytes')
      else if (isUncounted && this.#tree().length > limits.processes + helpers) onOver('processes')
    }
    const timer = setInterval(look, memoryEveryMs).unref()
    return () => {
      clearInterval(timer)
      usage.stop()
    }
  }

  /** A limit that the kernel has kept by ending something. */
  limitHit(): keyof ProcessLimits | undefined {
    return this.#group?.ranOutOfMemory() === true ? 'memoryBytes' : undefined
  }

  /** Waits until every process of it is gone, and deletes its folders. Its starter has ended it, or it ended before it said anything. */
  async close({ hasBegun = true }: { readonly hasBegun?: boolean } = {}): Promise<void> {
    if (!hasBegun) forgetLevel()
    this.#helper?.destroy()
    const end = Date.now() + patienceMs
    while (this.#identity.some((each) => isAlive(each)) && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    this.#group?.remove()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 })
  }

  #tree(): number[] {
    return this.#pid === undefined ? [] : treeOf(this.#pid)
  }

  async #order(op: 'show' | 'lend' | 'hide', from: string, name: string): Promise<void> {
    const helper = this.#helper
    if (helper === undefined || helper.destroyed) throw sandboxFailed('the sandbox of the process is gone')
    const answer = await new Promise<string>((resolve) => {
      this.#answers.push(resolve)
      helper.write(`${op}\n${from}\n${name}\n`)
    })
    if (!answer.startsWith('0')) throw sandboxFailed(`a folder cannot be shown or taken away: ${answer.slice(2)}`)
  }

  /** Makes the places of mounts, where they lie in a folder of ours. */
  #placed(mounts: readonly ViewMount[], root: string): ViewMount[] {
    const placed: ViewMount[] = []
    for (const mount of mounts) {
      const under = placed.findLast(({ target }) => target !== mount.target && isWithin(target, mount.target))
      const { source, target } = under ?? { source: root, target: '/' }
      const place = join(source, relative(target, mount.target))
      if (!existsSync(place)) {
        if (!isWithin(this.#folder, source))
          throw sandboxFailed(`there is no ${mount.target} to show ${mount.source} at`, 'make it first.')
        const isFolder = statSync(mount.source).isDirectory()
        mkdirSync(isFolder ? place : dirname(place), { recursive: true })
        if (!isFolder) writeFileSync(place, '')
      }
      placed.push(mount)
    }
    return placed
  }

  /** Nothing over each of `hidden` that would be seen otherwise. A folder of ours each: others may be shown in it. */
  #masks(hidden: readonly string[], mounts: readonly Mount[]): ViewMount[] {
    const seen = [...new Set(hidden)].filter(
      (path) => existsSync(path) && mounts.some(({ target }) => target !== path && isWithin(target, path)),
    )
    return seen.map((target, i) => {
      const source = join(this.#folder, `mask-${i}`)
      if (statSync(target).isDirectory()) mkdirSync(source)
      else writeFileSync(source, '')
      return { source, target, writable: false }
    })
  }
}

/** The programs that hold the process count in its group too. */
const helpers = 8
/** Longest that processes that were killed may take to end. */
const patienceMs = 10_000

/** Outer ones first, the later of two at one place over the earlier. */
function ordered(mounts: readonly ViewMount[]): ViewMount[] {
  const depth = ({ target }: ViewMount) => target.split('/').length
  return [...mounts].sort((a, b) => depth(a) - depth(b))
}

// `ro` holds for the mount alone, and not for those that lie in it.
function withSubmounts(mount: ViewMount): ViewMount[] {
  if (mount.writable) return [mount]
  const inside = mountPoints().filter((point) => point !== mount.source && isWithin(mount.source, point))
  return [
    mount,
    ...inside.map((source) => ({
      source,
      target: join(mount.target, relative(mount.source, source)),
      writable: false,
    })),
  ]
}

function mountPoints(): string[] {
  const unescaped = (text: string) =>
    text.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)))
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map(unescaped)
}
