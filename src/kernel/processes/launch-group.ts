// Starts a process that leads a group of its own, with bounded memory, an environment without secrets and pipes that keep nobody alive.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Stream } from 'node:stream'
import { hidingCommand } from './hide-paths.ts'

export interface LaunchOptions {
  readonly command: readonly string[]
  /** Pipes besides standard output and error, from file descriptor 3 on. */
  readonly pipes: number
  readonly cwd?: string | undefined
  /** Paths that it must not see. */
  readonly hidden: readonly string[]
  /** Bound of all its writable memory. */
  readonly memoryMb: number
  /** Variables that it gets besides those that no program can do without. */
  readonly variables?: readonly string[]
}

/** Its event loop does not keep ours alive. */
export function launchGroup({ command, pipes, cwd, hidden, memoryMb, variables = [] }: LaunchOptions): ChildProcess {
  const passed = new Set([...needed, ...variables])
  const options: SpawnOptions = {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => passed.has(name))),
    stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: pipes }, () => 'pipe' as const)],
    detached: true, // a process group of its own, to be killed as a whole
    ...(cwd === undefined ? {} : { cwd }),
  }
  const [program = '', ...args] = existsSync(shell) ? limited(hidingCommand(hidden, command), memoryMb) : command
  const child = spawn(program, args, options)
  child.unref()
  for (const stream of child.stdio) unref(stream)
  return child
}

/** The few variables that programs cannot do without. Secrets live in the others. */
const needed = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TMP',
  'TEMP',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'SystemRoot',
  'USERPROFILE',
]

const shell = '/bin/sh'

// --max-old-space-size bounds the heap, not buffers, so the system bounds all of it. A limit that cannot be set is lower already.
function limited(command: readonly string[], memoryMb: number): string[] {
  const script = 'ulimit -c 0 2>/dev/null; ulimit -d "$1" 2>/dev/null; shift; exec "$@"'
  return [shell, '-c', script, 'evsys', String(memoryMb * 1024), ...command]
}

function unref(stream: Stream | null | undefined): void {
  if (stream !== null && stream !== undefined && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}
