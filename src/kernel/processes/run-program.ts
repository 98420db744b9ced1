// A program in a folder, from its start to its end: bounded output, a deadline; ended with all that it started.
import { spawn } from 'node:child_process'
import { boundedText } from '../bounded-text.ts'
import { onAbort } from '../on-abort.ts'
import { killGroup } from './kill-group.ts'

export interface ProgramRun {
  readonly argv: readonly string[]
  readonly cwd: string
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
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
  const { argv, cwd, env, stdin, timeoutMs, outputBytes, signal } = run
  signal.throwIfAborted()
  const [command = '', ...args] = argv
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
      // What it left behind may hold the streams open: it is over when it is.
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
