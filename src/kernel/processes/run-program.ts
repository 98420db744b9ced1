// A program in a folder, from its start to its end: bounded output, a deadline; ended with all that it started.
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { onAbort } from '../map-concurrent.ts'
import { boundedText } from '../text-forms.ts'
import { hidingCommand } from './hide-paths.ts'
import { killGroup } from './kill-group.ts'

export interface ProgramRun {
  readonly argv: readonly string[]
  readonly cwd: string
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Paths that it must not see; only where `whyNotHidden` has nothing to say. Absent: none. */
  readonly hidden?: readonly string[] | undefined
  readonly stdin: string
  readonly timeoutMs: number
  /** How much of each stream is kept: its end. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

export interface ProgramEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** It was killed because its time was up. */
  readonly isLate: boolean
}

/** Rejects with the system’s error where it cannot be started, and with the signal’s reason where it is stopped. */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const { argv, cwd, env, hidden = [], stdin, timeoutMs, outputBytes, signal } = run
  signal.throwIfAborted()
  const [command = '', ...args] = hidden.length === 0 ? argv : hidingCommand(hidden, located(argv, env.PATH ?? ''))
  const child = spawn(command, args, { cwd, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const endAll = () => killGroup(child.pid)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    endAll()
  }, timeoutMs)
  const stopListening = onAbort(signal, endAll)
  const kept = { stdout: boundedText(outputBytes), stderr: boundedText(outputBytes) }
  try {
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (data: Buffer) => kept[name].add(data))
    child.stdin.on('error', () => {}) // a program that reads nothing
    child.stdin.end(stdin)
    const [exitCode, killed] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.once('error', reject)
      // A leaked process may hold the streams open: it is over when the program is.
      child.once('exit', (code, by) => {
        endAll()
        child.once('close', () => resolve([code, by]))
      })
    })
    signal.throwIfAborted()
    return { exitCode, signal: killed, stdout: kept.stdout.text(), stderr: kept.stderr.text(), isLate }
  } finally {
    clearTimeout(deadline)
    stopListening()
    endAll()
  }
}

// What hides paths starts always; a program that is not there has to be found out before.
function located([program = '', ...args]: readonly string[], path: string): string[] {
  const places = program.includes('/') ? [program] : path.split(delimiter).map((folder) => join(folder, program))
  const found = places.find((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  if (found === undefined) throw Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' })
  return [found, ...args]
}
