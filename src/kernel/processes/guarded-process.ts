// A child process that holds foreign code: how it is started, bounded, listened to and ended. Nothing that comes out of it is
// taken at its word, and its whole process group is ended with it, so that nothing it started stays behind.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable, Stream } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../message-of.ts'
import { killGroup } from './kill-group.ts'
import { launchGroup } from './launch-group.ts'
import { sourceLoader } from './source-loader.ts'
import { readTokenLines, type TokenLinesOptions } from './token-lines.ts'
import { fromWire, inputFd, outputFd, toWire, watchdogFd } from './wire.ts'

export type GuardedProcessOptions = {
  /** What it runs, with the extension of the running code: TypeScript from the sources, JavaScript when compiled. */
  script: URL
  args?: readonly string[]
  /** The first message. A promise: the process loads its code meanwhile, and all else waits for it. */
  start: unknown
  cwd?: string
  /** Paths that it must not see, where `whyNotHidden` finds nothing against it. */
  hidden?: readonly string[]
  /** Bound of its JavaScript heap. */
  heapMb: number
  /** Bound of all its writable memory: heap, buffers, threads. */
  memoryMb: number
  /** The longest message; default 64 MB. */
  messageMb?: number
  /** What it says. Throwing means that this is no message: the process is stopped as garbled. */
  onMessage(message: unknown): void
  /** Its watching thread is alive, whatever the main thread is at. */
  onAlive?(): void
  /** What it prints, or writes to our pipes without being us. False: too much, the process is stopped as a flood. */
  onPrinted(text: string): boolean
}

/** How a process ended. `stopped` says why, if it was us; `stuck` where its main thread was when it was found blocked. */
export type ProcessEnd = {
  code: number | null
  signal: string | null
  /** The end of what it printed. */
  printed: string
  stopped?: StopReason
  stuck?: { file?: string; line?: number }
}
export type StopReason = 'flood' | 'garbled' | 'silent' | 'closed' | 'not started'

export type GuardedProcess = {
  readonly pid: number | undefined
  send(message: unknown): void
  /** Kills the process and all it started. */
  stop(reason: StopReason): void
  /** Settles when the process is gone and what it wrote has arrived. */
  readonly ended: Promise<ProcessEnd>
}

/** Starts a process. Its event loop does not keep ours alive: whoever waits for an answer holds a timer. */
export function startGuardedProcess(options: GuardedProcessOptions): GuardedProcess {
  // Known to our side of the child alone: it begins every message, so that nothing else is taken for one.
  const token = randomBytes(24).toString('base64url')
  const child = launch(options)
  let stopped: StopReason | undefined
  let stuck: ProcessEnd['stuck']
  let tail = ''
  const stop = (reason: StopReason) => {
    stopped ??= reason
    child.ref() // its end is near, and worth waiting for
    killGroup(child.pid)
  }
  const print = (text: string) => {
    tail = `${tail}${text}`.slice(-tailLength)
    if (!options.onPrinted(text)) stop('flood')
  }
  const take = (text: string) => {
    if (stopped !== undefined) return
    try {
      options.onMessage(fromWire(text))
    } catch {
      stop('garbled')
    }
  }
  const watched = (text: string) => {
    if (text === 'alive') options.onAlive?.()
    else stuck = placeOf(text)
  }
  const pipes: readonly (Stream | null | undefined)[] = child.stdio // typed as five of them
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', print)
  const lines = {
    token,
    longest: (options.messageMb ?? 64) * 1024 * 1024,
    onOther: print,
    onFlood: () => stop('flood'),
  }
  listen(pipes[outputFd], { ...lines, onLine: take })
  listen(pipes[watchdogFd], { ...lines, onLine: watched })

  const ended = new Promise<ProcessEnd>((resolve) => {
    const finish = () => {
      const { exitCode: code, signalCode: signal } = child
      const why = { ...(stopped === undefined ? {} : { stopped }), ...(stuck === undefined ? {} : { stuck }) }
      resolve({ code, signal, printed: tail, ...why })
    }
    child.once('close', finish)
    child.once('error', (cause) => {
      print(messageOf(cause))
      stopped ??= 'not started'
      finish()
    })
    child.once('exit', () => {
      killGroup(child.pid) // its own children
      setTimeout(finish, 1000).unref() // one that left the group may hold the pipes open for ever
    })
  })
  for (const stream of child.stdio) stream?.on('error', () => {}) // broken pipes: `ended` tells
  const write = (message: unknown) => {
    const input = child.stdio[inputFd]
    if (input !== null && input !== undefined && 'write' in input) input.write(`${toWire(message)}\n`)
  }
  let held: unknown[] | undefined = [] // until the first message is out
  const begin = (start: unknown) => {
    for (const message of [{ token, start }, ...(held ?? [])]) write(message)
    held = undefined
  }
  const send = (message: unknown) => {
    if (held === undefined) write(message)
    else held.push(message)
  }
  if (options.start instanceof Promise) options.start.then(begin).catch(() => stop('closed'))
  else begin(options.start)
  return { pid: child.pid, send, stop, ended }
}

const tailLength = 4000

function listen(stream: Stream | null | undefined, options: TokenLinesOptions): void {
  if (stream === null || stream === undefined || !('read' in stream)) return
  const decoder = new StringDecoder('utf8')
  const read = readTokenLines(options)
  ;(stream as Readable).on('data', (bytes: Buffer) => read(decoder.write(bytes))) // a pipe, as `stdio` below asks for
}

function placeOf(text: string): { file?: string; line?: number } {
  try {
    const place: unknown = JSON.parse(text)
    const [file, line]: unknown[] = Array.isArray(place) ? place : []
    return typeof file === 'string' && Number.isSafeInteger(line) ? { file, line: Number(line) } : {}
  } catch {
    return {}
  }
}

function launch({ script, args = [], cwd, hidden = [], heapMb, memoryMb }: GuardedProcessOptions): ChildProcess {
  const command = [
    process.execPath,
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
    ...(script.pathname.endsWith('.ts') ? ['--import', sourceLoader()] : []),
    fileURLToPath(script),
    ...args,
  ]
  return launchGroup({ command, pipes: 3, cwd, hidden, memoryMb, variables })
}

/** Where models and kernels are kept, and which kernels are used. */
const variables = ['LOCALAPPDATA', 'XDG_CACHE_HOME', 'HF_HOME', 'HF_HUB_CACHE', 'EVSYS_CACHE', 'EVSYS_ENGINE', 'CC']
