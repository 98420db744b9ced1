// A command in a container that goes on while its caller talks to it.
import type { ExecResult, ExecSpec, SandboxProcess } from '../../contracts/index.ts'
import type { DockerCli } from './docker-cli.ts'

export interface SpawnCall {
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
      resolve({ exitCode, signal: by, ...kept, ...(limitHit === undefined ? {} : { limitHit }) })
    })
  })
  exit.catch(() => queue.end()) // told to whoever waits for the exit
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
