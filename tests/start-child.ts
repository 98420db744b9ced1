// Real child processes for tests: they run files of tests/children, say things line by line, and may be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compiledUrl } from './compiled-url.ts'

export type Child = AsyncDisposable & {
  process: ChildProcess
  /** The next line that the child prints; an error when it ends without one. */
  line(): Promise<string>
  /** Ends the child at once, as a crash would, and waits until it is gone. */
  kill(): Promise<void>
  /** Waits for the end and returns the exit code, or the name of the signal. */
  exit(): Promise<number | string>
}

/** Starts `tests/children/<name>.ts`, compiled. Disposing it kills it if it still runs. */
export function startChild(
  name: string,
  args: readonly string[] = [],
  { wrap = [], detached = false }: { wrap?: readonly string[] | undefined; detached?: boolean | undefined } = {},
): Child {
  const script = fileURLToPath(compiledUrl(new URL(`./children/${name}.ts`, import.meta.url)))
  return startProgram(name, [...wrap, process.execPath, script, ...args], { detached })
}

/** Starts any command as a child; `name` is for messages. Detached: in a process group of its own. */
function startProgram(name: string, [command = '', ...rest]: readonly string[], { detached = false } = {}): Child {
  const child = spawn(command, rest, {
    detached,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk
  })
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  ended.catch(() => {}) // told to whoever asks
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    process: child,
    async line() {
      const next = await lines.next()
      if (!next.done) return next.value
      throw new Error(`${name} ended (${await ended}) without a line: ${complaints}`)
    },
    kill,
    exit: () => ended,
    [Symbol.asyncDispose]: kill,
  }
}
