// What every level is given to start a command, and what it answers: a program of this machine with its arguments.
import { existsSync } from 'node:fs'
import type { ExecSpec } from '../../contracts/index.ts'
import type { Account } from '../account.ts'
import type { Bind, Layout } from '../bind.ts'
import type { StateFolder } from '../state-folder.ts'

export interface Launch {
  readonly spec: ExecSpec
  readonly layout: Layout
  /** Beside those that every sandbox has; they lie where everyone on the machine reaches them. */
  readonly devices: readonly Bind[]
  readonly state: StateFolder
  /** Files that open a control group to a process that writes into them. */
  readonly doors: readonly string[]
  /** Arguments of prlimit outside and inside. */
  readonly outerLimits: readonly string[]
  readonly innerLimits: readonly string[]
  /** Who the command is on this machine; absent: who we are. */
  readonly account?: Account
}

/**
 * A command line. `files` have the numbers 3 and up: the environment, the orders of the level, the pipe that tells of the
 * start, the filter of system calls, the table of what is staged, and where the level tells it the pipe that names the first
 * process of the namespace.
 */
export interface Plan {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: readonly (string | Uint8Array | Pipe)[]
}

/** What a pipe tells us. */
export interface Pipe {
  readonly tells: 'started' | 'first'
}

/** Where the tools of a sandbox are looked for, whatever PATH is. */
export const toolPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

// The last thing before the command. Its environment comes from a file: arguments can be read by anyone on the machine, and
// until here a variable such as LD_PRELOAD must not reach a program that still has something to set up.
const start =
  '. /proc/self/fd/3; echo started >&5; exec 3<&- 4<&- 5>&- 6<&- 7<&- 8>&-; cd -- "$1" || exit 126; shift; exec "$@"'

/** The command inside, with its limits, folder and environment. */
export function innerCommand({ spec, innerLimits }: Launch): string[] {
  return ['prlimit', ...innerLimits, '--', '/bin/sh', '-c', start, 'sh', spec.cwd ?? '/', ...spec.argv]
}

/** The environment as lines that a shell reads. */
export function envFile(env: Readonly<Record<string, string>>): string {
  const all = { PATH: toolPath, HOME: '/root', LANG: 'C.UTF-8', TERM: 'dumb', ...env }
  const lines = Object.entries(all).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
  return `unset PWD OLDPWD\n${lines.join('')}`
}

const enter = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 125; shift; n=$((n - 1)); done; exec "$@"'

/** Joins the control groups and takes the outer limits before `argv` is started. */
export function limited({ doors, outerLimits }: Launch, argv: readonly string[]): string[] {
  const inner = ['prlimit', ...outerLimits, '--', ...argv]
  return doors.length === 0 ? inner : ['/bin/sh', '-c', enter, 'sh', String(doors.length), ...doors, ...inner]
}

/** Files of the kernel that tell of this machine and are of no use inside; kernels differ in which they have. */
export function maskedFiles(): string[] {
  return ['/proc/keys', '/proc/kcore', '/proc/timer_list', '/proc/sched_debug'].filter((path) => existsSync(path))
}
