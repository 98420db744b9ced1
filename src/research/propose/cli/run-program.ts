// A program in a folder: a scrubbed environment, bounded output, a deadline; ended with all that it started.
import { spawn } from 'node:child_process'
import { EvsysError, messageOf, onAbort } from '../../../kernel/index.ts'

export interface ProgramRun {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface ProgramEnd {
  /** undefined: it was killed. */
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly isLate: boolean
}

// Their end is what counts: that is where a program says what it did, or why it failed.
const keptCharacters = 1_000_000

export async function runProgram({ argv, cwd, env, stdin, timeoutMs, signal }: ProgramRun): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const [command = '', ...args] = argv
  const child = spawn(command, args, { cwd, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL') // its group: all that it started
    } catch {
      // it is gone already
    }
  }
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    endAll()
  }, timeoutMs)
  const stopListening = onAbort(signal, endAll)
  const kept = { stdout: '', stderr: '' }
  try {
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        kept[name] = `${kept[name]}${text}`.slice(-keptCharacters)
      })
    child.stdin.on('error', () => {}) // a program that reads nothing
    child.stdin.end(stdin)
    const exitCode = await new Promise<number | undefined>((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(command, cause)))
      child.once('exit', (code) => {
        endAll() // what it left behind may hold the streams open
        child.once('close', () => resolve(code ?? undefined))
      })
    })
    signal.throwIfAborted()
    return { exitCode, ...kept, isLate }
  } finally {
    clearTimeout(deadline)
    stopListening()
    endAll()
  }
}

function notStarted(command: string, cause: unknown): EvsysError {
  return new EvsysError('AGENT_FAILED', `${command} cannot be started: ${messageOf(cause)}`, {
    cause,
    fix: 'install the program, or write `command` with the path that it has on this machine.',
  })
}
