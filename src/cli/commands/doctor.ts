// `evsys doctor`: what this machine has, what it lacks, what that would give and how to get it. Only what evsys cannot work
// without makes it fail.

import { execFile } from 'node:child_process'
import { access, constants, rm, statfs } from 'node:fs/promises'
import { arch, availableParallelism, cpus, freemem, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { EvsysError, messageOf, systemCode, temporaryFolder, visibleText } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { packageVersion } from '../context/package-version.ts'
import { projectOf } from '../context/project.ts'
import { wrap } from '../output/table.ts'
import { speedText } from '../output/text.ts'

export async function doctor(context: CommandContext): Promise<ExitCode> {
  const checks = await context.holding('the checks of this machine', async () => [
    ...machineChecks(),
    await engineCheck(context),
    await sandboxCheck(),
    ...(await projectChecks(context)),
    ...(await toolChecks(context)),
  ])
  const broken = checks.filter(({ required, status }) => required && status !== 'ok')
  context.output.result({ ok: broken.length === 0, checks }, () => reportText(checks, broken.length, context.output))
  return broken.length === 0 ? exitCodes.done : exitCodes.failed
}

const labels = { ok: 'ok     ', missing: 'missing', broken: 'broken ' } as const

function reportText(
  checks: readonly Check[],
  broken: number,
  { colors, width, quiet }: CommandContext['output'],
): string {
  const paint = { ok: colors.green, missing: colors.yellow, broken: colors.red }
  const nameWidth = Math.max(...checks.map(({ name }) => name.length))
  const indent = ' '.repeat(labels.ok.length + nameWidth + 4)
  const lines = checks.flatMap(({ name, status, found, gives, get, required }) => {
    const color = status !== 'ok' && required ? colors.red : paint[status]
    const text = wrap(visibleText(found), width - indent.length).join(`\n${indent}`)
    const head = `${color(labels[status])}  ${name.padEnd(nameWidth)}  ${text}`
    if (status === 'ok' || quiet) return [head]
    const advice = [...(gives === undefined ? [] : [`for: ${gives}`]), ...(get === undefined ? [] : [`get: ${get}`])]
    return [head, ...advice.flatMap((line) => wrap(line, width - indent.length)).map((line) => indent + line)]
  })
  const absent = checks.filter(({ status, required }) => status !== 'ok' && !required).length
  const verdict =
    broken > 0
      ? colors.red(`${broken} required ${broken === 1 ? 'part does' : 'parts do'} not work`)
      : colors.green('everything required works')
  return `${lines.join('\n')}\n\n${verdict}${absent > 0 ? `; ${absent} optional ${absent === 1 ? 'part is' : 'parts are'} not there` : ''}`
}

/** One finding of `evsys doctor`. */
export interface Check {
  readonly name: string
  /** `missing`: not there. `broken`: there, and of no use. */
  readonly status: 'ok' | 'missing' | 'broken'
  readonly required: boolean
  /** What was found, for people. */
  readonly found: string
  /** What one has of it. */
  readonly gives?: string | undefined
  /** How to get or mend it. */
  readonly get?: string | undefined
}

// What trains on this machine: the kernels of the CPU engine, tried and timed.
async function engineCheck({ env }: CommandContext): Promise<Check> {
  const base = { name: 'engine', required: false, gives: 'training on this machine with `backend: local`' } as const
  const { loadCpuEngine } = await import('../../engine/index.ts')
  const { inspectCpuEngine } = await loadCpuEngine()
  const { cacheFolder } = await import('../../models/index.ts')
  try {
    const { measured, why, problem } = await inspectCpuEngine({ env: { ...env }, cacheFolder: cacheFolder(env) })
    if (measured === undefined) {
      const found = `native kernels, not compiled yet (${why}): the first run or \`evsys engine build\` does it in some seconds`
      return { ...base, status: 'ok', found }
    }
    const { id, threads, gflops } = measured
    const found = `${id}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${speedText(gflops)} (${why})`
    if (problem === undefined) return { ...base, status: 'ok', found }
    return { ...base, status: 'broken', found: `${found}. ${problem}`, get: '`evsys engine build --force`' }
  } catch (error) {
    const fix = EvsysError.is(error) ? error.fix : undefined
    return { ...base, status: 'broken', found: messageOf(error), get: fix }
  }
}

/** `12.3 GB`, in powers of ten. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

// Node, the package, processor and memory.
export function machineChecks(): Check[] {
  return [
    { name: 'node', status: 'ok', required: true, found: process.versions.node }, // an older one does not get here
    { name: 'evsys', status: 'ok', required: true, found: packageVersion() },
    platformCheck(),
    { name: 'cores', status: 'ok', required: true, found: coresText() },
    memoryCheck(),
  ]
}

function platformCheck(): Check {
  const found = `${process.platform} ${arch()}, ${release()}`
  const base = { name: 'platform', status: 'ok', required: false } as const
  return process.platform === 'linux' ? { ...base, found } : { ...base, found: `${found} (tested on Linux first)` }
}

function coresText(): string {
  const model = cpus()[0]?.model.trim()
  return `${availableParallelism()}${model === undefined || model === '' ? '' : ` (${model})`}`
}

function memoryCheck(): Check {
  // In a container the limit of its control group counts, not the memory of the machine.
  const limit = process.constrainedMemory()
  const total = limit > 0 && limit < totalmem() ? limit : totalmem()
  const found = `${gigabytes(total)}${total === totalmem() ? `, ${gigabytes(freemem())} free` : ' (limit of this container)'}`
  return { name: 'memory', status: 'ok', required: true, found }
}

// The project of the current folder: whether there is one, whether evsys can write to it, how much room its disk has.
/** Checkpoints of a small model fill less than this; a disk with less is about to be full. */
const littleBytes = 1e9

async function projectChecks(context: CommandContext): Promise<Check[]> {
  const project = await projectOf(context)
  const folder = project ?? context.cwd
  return [
    project === undefined ? noProject(context.cwd) : { name: 'project', status: 'ok', required: false, found: project },
    ...(project === undefined ? [] : [await writableCheck(project)]),
    await diskCheck(folder),
  ]
}

function noProject(cwd: string): Check {
  return {
    name: 'project',
    status: 'missing',
    required: false,
    found: `${cwd} is not in one`,
    gives: 'your own plugins, and a place for runs and results',
    get: '`evsys init my-lab`',
  }
}

async function writableCheck(project: string): Promise<Check> {
  const state = join(project, '.evsys')
  const base = { name: 'project files', required: true } as const
  const get = `give this user the right to write to ${state}`
  try {
    await access(state, constants.W_OK | constants.X_OK)
    return { ...base, status: 'ok', found: 'writable' }
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') return { ...base, status: 'broken', found: `cannot write to ${state}`, get }
  }
  try {
    await access(project, constants.W_OK | constants.X_OK) // a fresh clone: .evsys is ignored by git and made at need
    return { ...base, status: 'ok', found: 'writable' }
  } catch {
    return { ...base, status: 'broken', found: `cannot write to ${project}`, get }
  }
}

async function diskCheck(folder: string): Promise<Check> {
  const base = { name: 'disk', required: true } as const
  try {
    const { bavail, bsize, blocks } = await statfs(folder)
    const free = bavail * bsize
    const found = `${gigabytes(free)} free of ${gigabytes(blocks * bsize)}`
    return free >= littleBytes
      ? { ...base, status: 'ok', found }
      : { ...base, status: 'broken', found, get: 'free some space: runs and checkpoints are written here' }
  } catch (cause) {
    return { ...base, status: 'broken', found: `cannot be asked: ${messageOf(cause)}` }
  }
}

// Where code that a model wrote would run on this machine: the strongest level that works, found out by running a command in it.
async function sandboxCheck(): Promise<Check> {
  const base = {
    name: 'sandbox',
    required: false,
    gives: 'tasks, verifiers and candidates that run code of a model',
  } as const
  const { findProcessLevel, openSandbox } = await import('../../sandbox/index.ts')
  const folder = temporaryFolder('doctor')
  try {
    await using sandbox = await openSandbox({ stateDir: folder })
    const { memory, processes } = sandbox.limits
    const workers = await findProcessLevel()
    const found = `${sandbox.level}; memory by ${memory}, processes by ${processes}; run workers: ${workers.level}`
    return { ...base, status: 'ok', found }
  } catch (error) {
    const fix = EvsysError.is(error) ? error.fix : undefined
    return { ...base, status: 'missing', found: messageOf(error), get: fix }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

// Programs that evsys can use when they are there. None of them is required.
interface Tool {
  readonly name: string
  /** Command lines to try in order; the first that works counts. */
  readonly tries: readonly (readonly [string, ...string[]])[]
  readonly gives: string
  readonly get: string
  /** How to mend it when it is there and does not work. */
  readonly mend?: string | undefined
}

/** A program that hangs (a container engine whose service is gone) is as good as none. */
const timeoutMs = 5_000

const tools: readonly Tool[] = [
  {
    name: 'git',
    tries: [['git', '--version']],
    gives: 'the commit of your code in the record of every experiment',
    get: 'install git with your package manager, e.g. `apt install git`',
  },
  {
    name: 'bubblewrap',
    // A version says little: whether it may make namespaces here is the question.
    tries: [['bwrap', '--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', 'bwrap', '--version']],
    gives: 'a sandbox for code that a model wrote, without containers (Linux)',
    get: '`apt install bubblewrap`',
    mend: 'allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, or run the container with that right',
  },
  {
    name: 'docker',
    tries: [['docker', 'version', '--format', 'server {{.Server.Version}}']],
    gives: 'tasks that bring their own container, and the strongest sandbox',
    get: 'https://docs.docker.com/engine/install',
    mend: 'start the service, and add your user to the group `docker`',
  },
  {
    name: 'C compiler',
    tries: [
      ['cc', '--version'],
      ['clang', '--version'],
      ['gcc', '--version'],
    ],
    gives: 'native kernels built for this processor; without it the portable ones are used',
    get: '`apt install gcc`, or the command line tools of Xcode',
  },
  {
    name: 'python',
    tries: [
      ['python3', '--version'],
      ['python', '--version'],
    ],
    gives: 'the optional torch worker, and tasks whose tests are Python',
    get: '`apt install python3`, or https://www.python.org/downloads',
  },
]

/** Looks for every tool at once. */
async function toolChecks({ env, signal }: CommandContext): Promise<Check[]> {
  return await Promise.all(tools.map((tool) => checkTool(tool, env, signal)))
}

async function checkTool(tool: Tool, env: CommandContext['env'], signal: AbortSignal): Promise<Check> {
  const { name, gives, get, mend } = tool
  let failure: string | undefined
  for (const argv of tool.tries) {
    const answer = await ask(argv, env, signal)
    if ('version' in answer) return { name, status: 'ok', required: false, found: answer.version, gives }
    failure ??= answer.failure
  }
  return failure === undefined
    ? { name, status: 'missing', required: false, found: 'not found', gives, get }
    : { name, status: 'broken', required: false, found: `does not work: ${failure}`, gives, get: mend ?? get }
}

type Answer = { readonly version: string } | { readonly failure: string | undefined }

function ask(
  [program, ...args]: readonly [string, ...string[]],
  env: CommandContext['env'],
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve) => {
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1_000_000 } as const
    const options = { env: { ...env }, signal, ...limits }
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ version: firstLine(stdout) || 'found' })
      if (error.code === 'ENOENT') return resolve({ failure: undefined })
      resolve({ failure: error.killed === true ? 'it does not answer' : firstLine(stderr) || error.message })
    })
  })
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.trim() ?? ''
}
