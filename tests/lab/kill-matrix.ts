// An experiment of which one process is killed at a moment of its life, and what is left of it: whether its record is that of the
// undisturbed one, which processes still run, which files lie about. Processes are found by what Linux says of them, and chosen by
// what they are for.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { identify, isAlive, keyedRandom, type ProcessIdentity } from '../../src/kernel/index.ts'
import { cleanEnv } from '../cli/run-process.ts'
import { processesThatKnow } from '../processes-with.ts'
import { canonicalRecords, recordOf } from './canonical-records.ts'
import { brief, experimentProject } from './experiment-project.ts'

/** Processes of an experiment, by the script that they run; `mock` trains within the worker. */
const scripts = {
  controller: 'evsys.js',
  worker: 'worker-child.js',
  evaluator: 'evaluator-child.js',
  scorer: 'scorer-child.js',
  trainer: 'trainer-child.js',
  engine: 'engine-child.js',
} as const
export type Role = keyof typeof scripts

const run = brief.matrix.base_run
/** Two arms, two checkpoints and three evaluations each, a test: a few seconds. */
const experiments = {
  mock: { ...brief, n_repeats: 1, budget: { steps: 20 } },
  local: {
    ...brief,
    n_repeats: 1,
    budget: { steps: 20 },
    matrix: {
      ...brief.matrix,
      base_run: {
        ...run,
        model: { name: 'evsys/nano' },
        algorithm: { kind: 'sft', params: { max_steps: 10, save_every: 4, batch_size: 4, lora_rank: 4 } },
        backend: { kind: 'local' },
      },
    },
  },
}
export type KillBackend = keyof typeof experiments

export const killRoles: Readonly<Record<KillBackend, readonly Role[]>> = {
  mock: ['controller', 'worker', 'evaluator', 'scorer'],
  local: ['controller', 'worker', 'evaluator', 'scorer', 'trainer', 'engine'],
}

export interface KillOptions {
  /** How evsys is started, without its arguments. */
  readonly evsys: readonly string[]
  /** An empty folder for projects and temporary files. */
  readonly dir: string
  readonly backend: KillBackend
}

/** An experiment that nothing disturbed. */
export interface Whole {
  readonly records: unknown
  readonly files: ReadonlySet<string>
  /** When the first process of each role was seen, and the last, in ticks of processor time that the experiment had used by then. */
  readonly life: ReadonlyMap<Role, { readonly from: number; readonly to: number }>
}

/** What became of an experiment of which a process was killed. */
export interface Killed {
  readonly role: Role
  /** When; absent: there was no such process left. */
  readonly at?: number | undefined
  /** Times that it was resumed; 0: the experiment did not need it. */
  readonly resumed: number
  readonly isEqual: boolean
  /** Until nothing of it ran any more once its controller had ended, in ms; absent: something still did. */
  readonly quietMs?: number | undefined
  /** Entries of the system's temporary folder that the next start deleted. */
  readonly swept: number
  /** What it left there, or in the project and is not in an undisturbed one. */
  readonly files: readonly string[]
  /** What was wrong. */
  readonly faults: readonly string[]
}

const pollMs = 40 // to read all processes takes milliseconds, which the experiment then lacks
const endMs = 300_000
const quietMs = 30_000
const mostResumed = 3

export async function undisturbed(options: KillOptions): Promise<Whole> {
  const project = makeProject(options)
  const life = new Map<Role, { from: number; to: number }>()
  const controller = start(options, project)
  while (controller.isRunning()) {
    const found = processesOf(controller.pid)
    const now = ticksOf(found)
    for (const { role } of found) if (role !== undefined) life.set(role, { from: life.get(role)?.from ?? now, to: now })
    await delay(pollMs)
  }
  const { code, said } = await controller.end()
  if (code !== 0) throw new Error(`the undisturbed experiment ended with ${code}: ${said}`)
  const left = temporaryFiles(project.temporary)
  if (left.length > 0) throw new Error(`the undisturbed experiment leaves ${left.join(', ')}`)
  const found = { records: await recordsOf(project), files: new Set(filesOf(project)), life }
  rmSync(project.dir, { recursive: true })
  return found
}

/** Kills one process at a moment that `random` (0 to 1) draws within the life of its role. */
export async function killed(options: KillOptions, whole: Whole, role: Role, random: number): Promise<Killed> {
  const project = makeProject(options)
  const { from, to } = whole.life.get(role) ?? { from: 0, to: 0 }
  const controller = start(options, project)
  const at = await killWithin(controller, role, from + random * (to - from))
  const faults: string[] = []
  const first = await controller.end()
  if (first.isLate) faults.push(`its controller did not end in ${endMs / 1000} s`)
  const quiet = await untilQuiet(project)
  if (quiet === undefined) faults.push(`still running: ${marked(project).map(commandOf).join(', ')}`)
  let resumed = 0
  for (let last = first; last.code !== 0 && resumed < mostResumed; ) {
    resumed += 1
    last = await start(options, project, ['--resume']).end()
    if (resumed === mostResumed && last.code !== 0) faults.push(`resumed, it ended with ${last.code}: ${last.said}`)
  }
  const isEqual = JSON.stringify(await recordsOf(project)) === JSON.stringify(whole.records)
  if (!isEqual) faults.push(`its record differs: ${await differenceOf(project, whole)}; it had said: ${first.said}`)
  const swept = temporaryFiles(project.temporary)
  if (swept.length > 0) {
    const next = await start(options, project, [], ['validate', project.file, '--deep']).end()
    if (next.code !== 0) faults.push(`the next start ended with ${next.code}: ${next.said}`)
    await untilQuiet(project)
  }
  const unknown = filesOf(project).filter((file) => !whole.files.has(file))
  const files = [...temporaryFiles(project.temporary), ...unknown]
  if (files.length > 0) faults.push(`left: ${files.slice(0, 5).join(', ')}`)
  if (faults.length === 0) rmSync(project.dir, { recursive: true })
  return { role, at, resumed, isEqual, quietMs: quiet, swept: swept.length, files, faults }
}

/** Moments spread over the life of a role, one in each part of it. */
export function moments(backend: KillBackend, role: Role, n: number, seed: number): number[] {
  return Array.from({ length: n }, (_, i) => (i + keyedRandom(seed, 'killed', backend, role, i).float()) / n)
}

interface Project {
  readonly dir: string
  readonly file: string
  readonly temporary: string
}

let projects = 0

function makeProject({ dir, backend }: KillOptions): Project {
  projects += 1
  const own = join(dir, `killed-${process.pid}-${projects}`)
  const temporary = join(own, 'tmp')
  mkdirSync(temporary, { recursive: true })
  return { dir: own, temporary, file: experimentProject(join(own, 'project'), experiments[backend]) }
}

function start(
  { evsys }: KillOptions,
  { file, temporary }: Project,
  flags: readonly string[] = [],
  command = ['run', file],
) {
  const [program = '', ...rest] = evsys
  const began = performance.now()
  const child = spawn(program, [...rest, ...command, ...flags, '--json'], {
    cwd: join(file, '..'),
    env: { ...cleanEnv(), TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-3000)
    })
  }
  let isLate = false
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  const late = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, endMs)
  return {
    pid: child.pid ?? 0,
    ageMs: () => performance.now() - began,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async end() {
      const code = await ended
      clearTimeout(late)
      return { code, said: said.replaceAll(/\s+/g, ' ').slice(-1500), isLate }
    },
  }
}

/** Waits for the moment, and for a process of the role; says when it was killed. */
async function killWithin(
  controller: ReturnType<typeof start>,
  role: Role,
  moment: number,
): Promise<number | undefined> {
  for (; controller.isRunning(); await delay(pollMs)) {
    const found = processesOf(controller.pid)
    const now = ticksOf(found)
    const wanted = found.filter((each) => each.role === role && isAlive(each.process))
    const chosen = wanted[Math.floor(moment) % Math.max(1, wanted.length)]
    if (now < moment || chosen === undefined) continue
    try {
      process.kill(chosen.process.pid, 'SIGKILL')
      return now
    } catch {
      // it was quicker
    }
  }
  return undefined
}

interface Found {
  readonly process: ProcessIdentity
  readonly role: Role | undefined
  /** Processor time, with that of its children that have ended. */
  readonly ticks: number
}

/** A process and all below it, with what they are for. */
function processesOf(pid: number): Found[] {
  const below = childrenOf(pid).flatMap(processesOf)
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number)
  const process = { pid, start: fields[19] ?? '' }
  return [{ process, role: roleOf(pid), ticks: user + system + childrenUser + childrenSystem }, ...below]
}

/** How far an experiment is, whatever else the machine is at. */
function ticksOf(found: readonly Found[]): number {
  return found.reduce((sum, { ticks }) => sum + ticks, 0)
}

function childrenOf(pid: number): number[] {
  const read = (task: string) => textOf(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number)
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(read)
  } catch {
    return []
  }
}

// The script stands first; behind boot-child.js, which starts spares, its address comes next.
function roleOf(pid: number): Role | undefined {
  const [program = '', ...args] = textOf(`/proc/${pid}/cmdline`).split('\0')
  if (basename(program) !== basename(process.execPath)) return undefined
  const script = args.find((arg) => arg.endsWith('.js') && !arg.endsWith('boot-child.js'))
  const entries = Object.entries(scripts) as [Role, string][] // the keys are roles
  return entries.find(([, name]) => script !== undefined && basename(script) === name)?.[0]
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

const marked = ({ dir }: Project) => processesThatKnow(dir).filter((pid) => isAlive(identify(pid)))
const commandOf = (pid: number) => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 200)

async function untilQuiet(project: Project): Promise<number | undefined> {
  const began = performance.now()
  while (marked(project).length > 0) {
    if (performance.now() - began > quietMs) return undefined
    await delay(50)
  }
  return performance.now() - began
}

/** What may stay in the system's folder: core leases, which are of the machine, and code that was compiled. */
const lasting = /^(evsys-cores-|node-compile-cache$|jiti$)/

function temporaryFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => !lasting.test(name))
}

/** The files of a project, by names that are equal in every execution. */
function filesOf({ file }: Project): string[] {
  const dir = join(file, '..')
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .map((path) => path.replaceAll(/(exp|run)_\w+|[0-9a-f-]{8,}|\d+(\.\d+)*/gi, '#'))
    .toSorted()
}

async function recordsOf({ file }: Project): Promise<unknown> {
  return existsSync(recordOf(file)) ? await canonicalRecords(file) : []
}

async function differenceOf(project: Project, { records }: Whole): Promise<string> {
  const [now, then] = [await recordsOf(project), records].map((each) => flat(each))
  const keys = [...new Set([...(now ?? new Map()).keys(), ...(then ?? new Map()).keys()])]
  const differing = keys.filter((key) => now?.get(key) !== then?.get(key))
  const shown = differing.slice(0, 4).map((key) => `${key}: ${then?.get(key)} is ${now?.get(key)}`)
  return `${differing.length} places, ${shown.join('; ')}`
}

function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) flat(each, `${path}/${key}`, into)
  else into.set(path, String(value).slice(0, 60))
  return into
}
