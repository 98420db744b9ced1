// What every level is given to start a command, and what it answers: a program of this machine with its arguments.
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { ExecSpec } from '../contracts/index.ts'
import type { Account } from './account.ts'
import { isWithin } from './proc-files.ts'
import { sandboxFailed } from './sandbox-error.ts'
import type { StateFolder } from './state-folder.ts'
import { type Bind, type Layout, systemFolders } from './system-binds.ts'

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
  readonly account?: Account | undefined
}

/**
 * A command line. `files` have the numbers 3 and up: the environment, the orders of the level, the pipe that reports the
 * start, the filter of system calls, the table of what is staged, and where the level has it the pipe that names the first
 * process of the namespace.
 */
export interface Plan {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: readonly (string | Uint8Array | Pipe)[]
}

export interface Pipe {
  readonly reports: 'started' | 'first'
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

/** Files of the kernel that reveal this machine and are of no use inside; kernels differ in which they have. */
export function maskedFiles(): string[] {
  return ['/proc/keys', '/proc/kcore', '/proc/timer_list', '/proc/sched_debug'].filter((path) => existsSync(path))
}

// As root: what a command is shown is first bound into a folder that its account can reach, in a mount namespace of our own,
// since projects often lie in folders that are closed to others. Then we become that account for good.

const places = ['/mnt', '/media', '/srv', '/opt', '/run', '/home']

const stage = `set -e; s=$1 u=$2 g=$3 d=$4 f=$5; shift 5
mount -t tmpfs -o size=64k,mode=755,nosuid,nodev evsys "$s"; cd "$s"; mkdir $d; for x in $f; do : > "$x"; done
mount -a -T /proc/self/fd/7; cd /
exec setpriv --reuid "$u" --regid "$g" --clear-groups -- "$@"`

interface Staged {
  /** The layout with sources that the account reaches. */
  readonly layout: Layout
  /** The table of what is bound there; absent: nothing is. */
  readonly table?: string | undefined
  /** The command line that does it and continues with `argv`. */
  enter(argv: readonly string[]): string[]
}

export function staged({ account, layout, state }: Launch): Staged {
  if (account === undefined) return { layout, enter: (argv) => [...argv] }
  const sources = [layout.root, state.dev, ...layout.binds.map(({ source }) => source)]
  const place = places.find((each) => existsSync(each) && !sources.some((source) => isWithin(each, source)))
  if (place === undefined) throw sandboxFailed(`no folder is free to show files in: ${places.join(', ')}`)
  const names = new Map<string, string>()
  const reach = (source: string): string => {
    if ([...systemFolders, '/etc'].some((folder) => isWithin(folder, source))) return source
    const above = [...names].find(([known]) => known !== '/' && isWithin(known, source))
    if (above !== undefined) return `${place}/${above[1]}${source.slice(above[0].length)}`
    const name = `${statSync(source).isDirectory() ? 'd' : 'f'}${names.size}`
    names.set(source, name)
    return `${place}/${name}`
  }
  const root = reach(layout.root)
  const binds = layout.binds.map((bind): Bind => ({ ...bind, source: reach(bind.source) }))
  const ofKind = (kind: string) => [...names.values()].filter((name) => name.startsWith(kind)).join(' ')
  const [uid, gid] = [String(account.uid), String(account.gid)]
  return {
    layout: { root, binds },
    table: fstab([...names].map(([source, name]) => ({ source, target: `${place}/${name}`, options: ['rbind'] }))),
    enter: (argv) => [
      ...['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', stage, 'sh'],
      ...[place, uid, gid, ofKind('d'), ofKind('f'), ...argv],
    ],
  }
}

// A table of mounts, as `mount -a` reads it: one program makes them all.
export interface TableMount {
  readonly source: string
  readonly target: string
  readonly type?: string | undefined
  readonly options: readonly string[]
}

export function fstab(mounts: readonly TableMount[]): string {
  return mounts
    .map(({ source, target, type = 'none', options }) =>
      [escaped(source), escaped(target), type, options.join(','), '0', '0\n'].join(' '),
    )
    .join('')
}

function escaped(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

/** Whether programs may not be started from the mount that `path` is on: a bind has to say so again. */
export function isNoExec(path: string): boolean {
  let longest = ''
  let options = ''
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [, , , , point = '', flags = ''] = line.split(' ')
    const isAbove = point !== '' && isWithin(point, path)
    if (isAbove && point.length >= longest.length) [longest, options] = [point, flags]
  }
  return options.split(',').includes('noexec')
}
