// The user's docker program as a function: arguments in, exit code and output out. It knows processes, not containers.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { ExecResult, ExecSpec, SandboxProcess } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'

interface DockerAnswer {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
}

interface DockerCall {
  readonly signal: AbortSignal
  readonly stdin?: string | undefined
  readonly outputBytes?: number | undefined
}

const defaultOutputBytes = 2 ** 20

export class DockerCli {
  readonly program: string

  constructor(program: string) {
    this.program = program
  }

  /** Starts a call whose streams the caller holds. */
  start(args: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    return spawn(this.program, [...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  }

  /** Runs a call to its end. Rejects when the program cannot be started, and when cancelled. */
  async call(args: readonly string[], options: DockerCall): Promise<DockerAnswer> {
    const { signal, stdin, outputBytes = defaultOutputBytes } = options
    signal.throwIfAborted()
    const child = this.start(args)
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop, { once: true })
    child.stdin.on('error', () => undefined) // it ended without reading: its exit shows why
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
    throw new EvsysError('ENVIRONMENT_FAILED', `docker could not ${what}: ${outputTail(answer)}`, {
      fix: `read what it says; \`${this.program} ${args[0] ?? ''}\` by hand shows more.`,
    })
  }
}

/** The end of what a call said. */
export function outputTail({ stderr, stdout, code, signal }: DockerAnswer): string {
  const said = (stderr.trim() === '' ? stdout : stderr).trim().slice(-500)
  return said === '' ? `it ended with ${code === null ? signal : `code ${code}`}` : said
}

/** Ends an output that is longer than what is kept. */
const cutMark = '\n[output cut here]\n'

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
  const message = `the environment "docker" cannot start ${program}: ${messageOf(cause)}`
  const fix = 'install docker, or name another program (podman) by `program` of the environment.'
  return new EvsysError('ENVIRONMENT_REFUSED', message, { cause, fix })
}

// A command in a container that runs while its caller talks to it.
interface SpawnCall {
  readonly args: readonly string[]
  readonly limits: ExecSpec['limits']
  readonly signal: AbortSignal
  /** Ends the command inside. */
  readonly kill: () => Promise<void>
  /** Called when the command has ended. */
  readonly closed: () => Promise<void>
}

type Chunk = { readonly stream: 'stdout' | 'stderr'; readonly text: string }

/** Starts the command; ending it, by its caller or its limits, ends it inside as well. */
export function spawnInContainer(cli: DockerCli, { args, limits, signal, kill, closed }: SpawnCall): SandboxProcess {
  const child = cli.start(args)
  child.stdin.on('error', () => undefined)
  let limitHit: 'timeoutMs' | undefined
  const stop = async () => {
    await kill()
    child.kill('SIGKILL')
  }
  const timer = setTimeout(() => {
    limitHit = 'timeoutMs'
    void stop()
  }, limits.timeoutMs)
  const onAbort = () => void stop()
  signal.addEventListener('abort', onAbort, { once: true })
  const kept = { stdout: '', stderr: '', truncated: false }
  const queue = chunkQueue()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      queue.push({ stream, text })
      const room = limits.outputBytes - kept[stream].length
      if (text.length > room) kept.truncated = true
      kept[stream] += text.slice(0, Math.max(room, 0))
    })
  }
  const exit = new Promise<ExecResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, by) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      queue.end()
      void closed()
      resolve({ exitCode, signal: by, ...kept, limitHit })
    })
  })
  exit.catch(() => queue.end()) // thrown to the one who waits for the exit
  return {
    output: queue,
    exit,
    write: (text) =>
      new Promise((resolve, reject) => {
        child.stdin.write(text, (error) => (error ? reject(error) : resolve()))
      }),
    end: () => new Promise((resolve) => child.stdin.end(() => resolve())),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await stop()
      await exit.catch(() => undefined)
    },
  }
}

function chunkQueue() {
  const chunks: Chunk[] = []
  let isOver = false
  let wake = () => undefined as undefined
  return {
    push: (chunk: Chunk) => {
      chunks.push(chunk)
      wake()
    },
    end: () => {
      isOver = true
      wake()
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<Chunk> {
      for (;;) {
        const next = chunks.shift()
        if (next !== undefined) yield next
        else if (isOver) return
        else
          await new Promise<void>((resolve) => {
            wake = () => {
              resolve()
              return undefined
            }
          })
      }
    },
  }
}
