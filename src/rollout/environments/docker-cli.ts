// The user's docker program as a function: arguments in, exit code and output out. It knows processes, not containers.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** How a call ended. */
export interface DockerAnswer {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
}

export interface DockerCall {
  readonly signal: AbortSignal
  readonly stdin?: string
  /** Values for `--env NAME`: handed over by name, so that they are not seen in the list of processes. */
  readonly env?: Readonly<Record<string, string>>
  readonly outputBytes?: number
}

const defaultOutputBytes = 2 ** 20

/** The docker program. */
export class DockerCli {
  readonly program: string

  constructor(program: string) {
    this.program = program
  }

  /** Starts a call whose streams the caller holds. */
  start(
    args: readonly string[],
    { env }: Pick<DockerCall, 'env'> = {},
  ): ChildProcessByStdio<Writable, Readable, Readable> {
    return spawn(this.program, [...args], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  }

  /** Runs a call to its end. Rejects when the program cannot be started, and when cancelled. */
  async call(args: readonly string[], options: DockerCall): Promise<DockerAnswer> {
    const { signal, stdin, outputBytes = defaultOutputBytes } = options
    signal.throwIfAborted()
    const child = this.start(args, options)
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop, { once: true })
    child.stdin.on('error', () => undefined) // it ended without reading: its exit tells why
    child.stdin.end(stdin ?? '')
    const stdout = keep(child.stdout, outputBytes)
    const stderr = keep(child.stderr, outputBytes)
    try {
      const end = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
        child.once('error', (cause) => reject(notStarted(this.program, cause)))
        child.once('close', (code, by) => resolve({ code, signal: by }))
      })
      signal.throwIfAborted()
      const truncated = stdout.isCut() || stderr.isCut()
      return { ...end, stdout: stdout.text(), stderr: stderr.text(), truncated }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Runs a call that must succeed; `what` names it in the error. */
  async must(what: string, args: readonly string[], options: DockerCall): Promise<string> {
    const answer = await this.call(args, options)
    if (answer.code === 0) return answer.stdout.trim()
    throw new EvsysError('ENVIRONMENT_FAILED', `docker could not ${what}: ${lastWords(answer)}`, {
      fix: `read what it says; \`${this.program} ${args[0] ?? ''}\` by hand shows more.`,
    })
  }
}

/** The end of what a call said. */
export function lastWords({ stderr, stdout, code, signal }: DockerAnswer): string {
  const said = (stderr.trim() === '' ? stdout : stderr).trim().slice(-500)
  return said === '' ? `it ended with ${code === null ? signal : `code ${code}`}` : said
}

/** Ends an output that is longer than what is kept. */
export const cutMark = '\n[output cut here]\n'

function keep(stream: Readable, mostBytes: number) {
  const chunks: Buffer[] = []
  let bytes = 0
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    const room = mostBytes - bytes
    if (chunk.length > room) isCut = true
    if (room > 0) chunks.push(chunk.subarray(0, room))
    bytes += Math.min(chunk.length, Math.max(room, 0))
  })
  return { isCut: () => isCut, text: () => `${Buffer.concat(chunks).toString()}${isCut ? cutMark : ''}` }
}

function notStarted(program: string, cause: unknown): EvsysError {
  return new EvsysError(
    'ENVIRONMENT_REFUSED',
    `the environment "docker" cannot start ${program}: ${messageOf(cause)}`,
    {
      cause,
      fix: 'install docker, or name another program (podman) by `program` of the environment.',
    },
  )
}
