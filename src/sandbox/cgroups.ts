// Control groups: the kernel's own limits on a whole tree of processes. Version 2 where memory and pids are delegated to us,
// else version 1, else none; found out by making one. A group is made per command and removed after it.
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { ExecSpec } from '../contracts/index.ts'
import { isAlive } from '../kernel/index.ts'
import { namesIn, textIn } from './proc-files.ts'

export type CgroupVersion = 'cgroup v1' | 'cgroup v2'

interface GroupLimits {
  readonly memoryBytes: number
  readonly processes: number
  readonly cpus?: number | undefined
}

export interface Group {
  /** Files that take the number of a process to put it, and what it starts, into the group. */
  readonly doors: readonly string[]
  /** Whether the kernel has killed something in it for want of memory. */
  ranOutOfMemory(): boolean
  /** Most memory that was held in it; undefined where the kernel does not report it. */
  peakBytes(): number | undefined
  /** Gone when it is empty. */
  remove(): void
}

interface Cgroups {
  readonly version: CgroupVersion
  make(limits: GroupLimits): Group
}

let found: { cgroups: Cgroups | undefined } | undefined

/** What this process may use; undefined: none. Tried once. */
export function cgroups(): Cgroups | undefined {
  found ??= { cgroups: [secondVersion(), firstVersion()].find((each) => each !== undefined && works(each)) }
  return found.cgroups
}

let made = 0
const nextName = () => {
  made += 1
  return `evsys-${process.pid}-${made}`
}

function works(candidate: Cgroups): boolean {
  try {
    candidate.make({ memoryBytes: 64 << 20, processes: 16 }).remove()
    return true
  } catch {
    return false
  }
}

function secondVersion(): Cgroups | undefined {
  const own = ownFolders().get('')
  if (own === undefined) return undefined
  const parent = delegated(own.folder, own.top)
  if (parent === undefined) return undefined
  sweep(parent)
  return {
    version: 'cgroup v2',
    make({ memoryBytes, processes, cpus }) {
      const folder = join(parent, nextName())
      mkdirSync(folder)
      set(folder, 'memory.max', memoryBytes)
      if (existsSync(join(folder, 'memory.swap.max'))) set(folder, 'memory.swap.max', 0)
      set(folder, 'memory.oom.group', 1)
      set(folder, 'pids.max', processes)
      if (cpus !== undefined && existsSync(join(folder, 'cpu.max'))) set(folder, 'cpu.max', `${cpus * 100_000} 100000`)
      return {
        doors: [join(folder, 'cgroup.procs')],
        ranOutOfMemory: () => counter(join(folder, 'memory.events'), 'oom_kill') > 0,
        peakBytes: () => amount(join(folder, 'memory.peak')),
        remove: () => removeFolder(folder),
      }
    },
  }
}

// A group with processes in it cannot pass controllers on: the nearest one above us that does, and that we may write.
function delegated(folder: string, top: string): string | undefined {
  for (let at = folder; at.startsWith(top); at = dirname(at)) {
    const enabled = textIn(join(at, 'cgroup.subtree_control'))
    const isOurs = mayWrite(join(at, 'cgroup.procs'))
    if (isOurs && ['memory', 'pids'].every((each) => enabled.split(/\s+/).includes(each))) return at
    if (at === top) return undefined
  }
  return undefined
}

function firstVersion(): Cgroups | undefined {
  const own = ownFolders()
  const memory = own.get('memory')?.folder
  const pids = own.get('pids')?.folder
  const cpu = own.get('cpu')?.folder
  if (memory === undefined || pids === undefined) return undefined
  for (const each of [memory, pids, cpu]) if (each !== undefined) sweep(each)
  return {
    version: 'cgroup v1',
    make({ memoryBytes, processes, cpus }) {
      const name = nextName()
      const [inMemory, inPids] = [join(memory, name), join(pids, name)]
      mkdirSync(inMemory)
      set(inMemory, 'memory.limit_in_bytes', memoryBytes)
      if (existsSync(join(inMemory, 'memory.memsw.limit_in_bytes')))
        set(inMemory, 'memory.memsw.limit_in_bytes', memoryBytes)
      mkdirSync(inPids)
      set(inPids, 'pids.max', processes)
      const folders = [inMemory, inPids]
      if (cpus !== undefined && cpu !== undefined) {
        const inCpu = join(cpu, name)
        mkdirSync(inCpu)
        set(inCpu, 'cpu.cfs_quota_us', Math.round(cpus * 100_000))
        folders.push(inCpu)
      }
      return {
        doors: folders.map((folder) => join(folder, 'cgroup.procs')),
        ranOutOfMemory: () => counter(join(inMemory, 'memory.oom_control'), 'oom_kill') > 0,
        peakBytes: () => amount(join(inMemory, 'memory.max_usage_in_bytes')),
        remove: () => {
          for (const folder of folders) removeFolder(folder)
        },
      }
    },
  }
}

/** Our group in each hierarchy, by controller; version 2 has the empty name. */
function ownFolders(): Map<string, { folder: string; top: string }> {
  const folders = new Map<string, { folder: string; top: string }>()
  const paths = textIn('/proc/self/cgroup').trim().split('\n')
  for (const line of textIn('/proc/self/mountinfo').trim().split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root = '/', top = ''] = before.split(' ')
    const [type, , options = ''] = after.split(' ')
    if (type !== 'cgroup' && type !== 'cgroup2') continue
    for (const each of paths) {
      const [, names = '', ...rest] = each.split(':')
      for (const name of names.split(',')) {
        const isHere = type === 'cgroup2' ? name === '' : name !== '' && options.split(',').includes(name)
        if (isHere) folders.set(name, { folder: join(top, relative(root, rest.join(':'))), top })
      }
    }
  }
  return folders
}

// Groups of processes that were killed before they could remove them.
function sweep(folder: string): void {
  for (const name of namesIn(folder)) {
    const pid = Number(/^evsys-(\d+)-\d+$/.exec(name)?.[1] ?? Number.NaN)
    if (!Number.isNaN(pid) && !isAlive({ pid, start: '' })) removeFolder(join(folder, name))
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something in it is about to end: the next sweep takes it.
  }
}

function set(folder: string, file: string, value: number | string): void {
  writeFileSync(join(folder, file), String(value))
}

function counter(file: string, name: string): number {
  const line = textIn(file)
    .split('\n')
    .find((each) => each.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}

function amount(file: string): number | undefined {
  const number = Number(textIn(file).trim() || Number.NaN)
  return Number.isFinite(number) ? number : undefined
}

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}

// Limits of single processes, which a process inherits and cannot raise.

/** Arguments of `prlimit` before the sandbox is made. `memory`: no control group limits it. */
export function outerLimits({ memoryBytes, diskBytes }: ExecSpec['limits'], memory: boolean): string[] {
  const args = ['--core=0:0', `--fsize=${diskBytes}:${diskBytes}`, '--nofile=1024:4096', '--memlock=65536:65536']
  // Not the address space: runtimes reserve far more of it than they ever use.
  return memory ? [...args, `--data=${memoryBytes}:${memoryBytes}`] : args
}

/** Arguments of `prlimit` inside the namespace of the command's account. */
export function innerLimits({ processes }: ExecSpec['limits']): string[] {
  const others = countsPerNamespace() ? 0 : processesOfUser()
  // The shell that starts the command is one of them, and so is the first process of a namespace.
  const most = processes + others + 2
  return [`--nproc=${most}:${most}`]
}

// Before Linux 5.14 the processes that an account has outside count as well.
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}

function processesOfUser(): number {
  const uid = process.getuid?.()
  let threads = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    if (statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid !== uid) continue
    threads += Number(/^Threads:\s+(\d+)$/m.exec(textIn(`/proc/${name}/status`))?.[1] ?? 1)
  }
  return threads
}
