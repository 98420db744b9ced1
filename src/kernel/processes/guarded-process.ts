// How a child process that holds foreign code is started, bounded and ended. It leads a process group, has bounded memory and an
// environment without secrets; nothing that comes out of it is taken at its word, and its whole group is ended with it.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Duplex, type Readable, type Stream, type Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../evsys-error.ts'
import { ChannelFault } from './channel.ts'
import type { ProcessEnd, StopReason, StuckPlace, Transport, TransportEvents } from './child.ts'
import { hidingCommand } from './hide-paths.ts'
import { killGroup, killTree } from './kill-group.ts'
import { bootArgs, type ForkSpec, loaderArgs } from './spare.ts'
import { fromWire, inputFd, outputFd, readTokenLines, toWire, watchdogFd } from './wire.ts'

export interface GuardedProcessOptions {
  /** What it runs, with the extension of the running code: TypeScript from the sources, JavaScript when compiled. */
  readonly script: URL
  readonly args?: readonly string[] | undefined
  readonly cwd?: string | undefined
  /** Paths that it must not see, where `whyNotHidden` finds nothing against it. */
  readonly hidden?: readonly string[] | undefined
  /** The sandbox that it lives in; it sees nothing that is hidden besides. */
  readonly sandbox?: ProcessPlace | undefined
  /** Bound of its JavaScript heap. */
  readonly heapMb: number
  /** Bound of all its writable memory: heap, buffers, threads. */
  readonly memoryMb: number
  /** The longest message; default 64 MB. */
  readonly messageMb?: number | undefined
  /** What it may print in all; default 8 MB. More is a flood. */
  readonly printedMb?: number | undefined
  /** Takes what it prints, or writes to our pipes without being us, in place of that bound. False: too much. */
  readonly onPrinted?: ((text: string) => boolean) | undefined
  /** Processes that it starts before it loads anything. */
  readonly spares?: readonly ForkSpec[] | undefined
}

/** An open file that both sides read and write. Declarations that are shipped name no types of Node. */
export interface ProcessChannel {
  readonly destroyed: boolean
  setEncoding(encoding: 'utf8'): unknown
  on(event: 'data', listener: (text: string) => void): unknown
  once(event: 'close', listener: () => void): unknown
  write(text: string): unknown
  destroy(): unknown
}

/** Where a process is started in place of this machine as it is. */
export interface ProcessPlace {
  launch(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd: string,
  ): {
    readonly argv: readonly string[]
    readonly env: Readonly<Record<string, string>>
    /** Its open files from number 6 on. */
    readonly stdio: readonly (number | 'pipe' | 'ignore')[]
    /** Called when there is a process, or none; `channel` is number 6. */
    started(pid: number | undefined, channel: ProcessChannel | undefined): void
    /** Called when it is first heard of. */
    begun?(): void
    /** Called when it has ended, and waited for. `hasBegun`: it has run our code, or was ended by this side. */
    ended?(hasBegun: boolean): Promise<void>
  }
}

const bytesPerMb = 1024 * 1024
const tailLength = 4000

/** For `openChild`: a process for foreign code, whose script calls `serve`. */
export function guardedProcess(options: GuardedProcessOptions): (events: TransportEvents) => Transport {
  return (events) => new GuardedProcess(options, events)
}

class GuardedProcess implements Transport {
  readonly ended: Promise<ProcessEnd>
  // Known to our side of the child alone: it begins every message, so that nothing else is taken for one.
  readonly #token = randomBytes(24).toString('base64url')
  readonly #child: ChildProcess
  readonly #input: Writable | undefined
  readonly #onPrinted: (text: string) => boolean
  #stopped: StopReason | undefined
  #flooded: ProcessEnd['flooded']
  #stuck: StuckPlace | undefined
  #tail = ''

  constructor(options: GuardedProcessOptions, { onFrame, onAlive }: TransportEvents) {
    const { messageMb = 64, printedMb = 8, onPrinted } = options
    let printed = 0
    this.#onPrinted =
      onPrinted ??
      ((text) => {
        printed += text.length
        return printed <= printedMb * bytesPerMb
      })
    const { child, placed } = launch(options)
    this.#child = child
    this.#input = pipeOf<Writable>(this.#child, inputFd, 'write')
    for (const stream of this.#child.stdio) stream?.on('error', () => {}) // broken pipes: `ended` reports it
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#print(text))
    }
    let hasSpoken = false
    const heard = () => {
      if (!hasSpoken) placed?.begun?.()
      hasSpoken = true
    }
    this.#listen(outputFd, messageMb * bytesPerMb, (text) => {
      heard()
      this.#take(text, onFrame)
    })
    this.#listen(watchdogFd, bytesPerMb, (text) => {
      heard()
      if (text === 'alive') onAlive()
      else this.#stuck = placeOf(text)
    })
    this.ended = this.#awaitEnd().then(async (end) => {
      await placed?.ended?.(hasSpoken || (end.stopped !== undefined && end.stopped !== 'not started'))
      return end
    })
    this.post({ token: this.#token })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  post(message: unknown): void {
    this.#input?.write(`${toWire(message)}\n`)
  }

  drained(): Promise<void> {
    const input = this.#input
    if (input === undefined || input.destroyed) return Promise.resolve()
    return new Promise((resolve) => {
      input.write('', () => resolve())
    })
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#child.ref()
    else if (this.#stopped === undefined) this.#child.unref()
  }

  leave(): void {
    this.stop('closed')
  }

  stop(reason: StopReason): void {
    this.#stopped ??= reason
    this.#child.ref() // its end is near, and worth waiting for
    killTree(this.#child.pid)
  }

  #print(text: string): void {
    this.#tail = `${this.#tail}${text}`.slice(-tailLength)
    if (!this.#onPrinted(text)) this.#flood('printed')
  }

  #flood(what: 'printed' | 'messages'): void {
    this.#flooded ??= what
    this.stop('flood')
  }

  #take(text: string, onFrame: (frame: unknown) => void): void {
    if (this.#stopped !== undefined) return
    try {
      onFrame(fromWire(text))
    } catch (fault) {
      if (fault instanceof ChannelFault && fault.kind === 'flood') this.#flood('messages')
      else this.stop('garbled')
    }
  }

  #listen(fd: number, longest: number, onLine: (text: string) => void): void {
    const decoder = new StringDecoder('utf8')
    const read = readTokenLines({
      token: this.#token,
      longest,
      onLine,
      onOther: (text) => this.#print(text),
      onFlood: () => this.#flood('printed'),
    })
    pipeOf<Readable>(this.#child, fd, 'read')?.on('data', (bytes: Buffer) => read(decoder.write(bytes)))
  }

  #awaitEnd(): Promise<ProcessEnd> {
    const child = this.#child
    return new Promise((resolve) => {
      let late: NodeJS.Timeout | undefined
      const finish = () => {
        clearTimeout(late)
        const { exitCode: code, signalCode: signal } = child
        const why = { stopped: this.#stopped, flooded: this.#flooded, stuck: this.#stuck }
        resolve({ code, signal, printed: this.#tail, ...why })
      }
      child.once('close', finish)
      child.once('error', (cause) => {
        this.#print(messageOf(cause))
        this.#stopped ??= 'not started'
        finish()
      })
      child.once('exit', () => {
        killGroup(child.pid) // its own children
        // One that left the group may hold the pipes open for ever. Nothing else keeps our event loop alive until they are closed.
        late = setTimeout(finish, 1000)
      })
    })
  }
}

// Typed as five of them, and as either direction.
function pipeOf<T extends Stream>(child: ChildProcess, fd: number, does: 'read' | 'write'): T | undefined {
  const stream: Stream | null | undefined = (child.stdio as readonly (Stream | null | undefined)[])[fd]
  return stream !== null && stream !== undefined && does in stream ? (stream as T) : undefined
}

function placeOf(text: string): StuckPlace {
  try {
    const { spent, file, line }: Partial<Record<string, unknown>> = Object(JSON.parse(text))
    const place = typeof file === 'string' && Number.isSafeInteger(line) ? { file, line: Number(line) } : {}
    return { spent: spent === 'memory' ? 'memory' : 'time', ...place }
  } catch {
    return {}
  }
}

/** Variables that programs cannot do without, then where models and kernels are kept and which are used. Secrets are in the others. */
const passed = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'SystemRoot', 'USERPROFILE'],
  ...['LOCALAPPDATA', 'XDG_CACHE_HOME', 'HF_HOME', 'HF_HUB_CACHE', 'EVSYS_CACHE', 'EVSYS_ENGINE', 'CC'],
])

const shell = '/bin/sh'

function launch({
  script,
  args = [],
  spares = [],
  cwd,
  hidden = [],
  sandbox,
  heapMb,
  memoryMb,
}: GuardedProcessOptions) {
  const node = [process.execPath, `--max-old-space-size=${heapMb}`, '--no-warnings', ...loaderArgs(script.href)]
  const command = [...node, ...bootArgs(script.href, args, spares)]
  const known = Object.entries(process.env).filter(([name, value]) => passed.has(name) && value !== undefined)
  const env: Record<string, string> = Object.fromEntries(known.map(([name, value = '']) => [name, value]))
  const hasShell = existsSync(shell)
  const placed = sandbox?.launch(hasShell ? limited(command, memoryMb) : command, env, cwd ?? process.cwd())
  const outside = hasShell ? limited(hidingCommand(hidden, command), memoryMb) : command
  const options: SpawnOptions = {
    env: placed?.env ?? env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', ...(placed?.stdio ?? [])],
    detached: true, // leads a process group, to be killed as a whole
    cwd: placed === undefined ? cwd : '/',
  }
  const [program = '', ...rest] = placed?.argv ?? outside
  const child = spawn(program, rest, options)
  child.unref()
  for (const stream of child.stdio) unref(stream)
  const channel: unknown = (child.stdio as readonly unknown[])[6] // typed as five of them
  placed?.started(child.pid, channel instanceof Duplex ? channel : undefined)
  return { child, placed }
}

// --max-old-space-size bounds the heap, not buffers, so the system bounds all of it. A limit that cannot be set is lower already.
function limited(command: readonly string[], memoryMb: number): string[] {
  const script = 'ulimit -c 0 2>/dev/null; ulimit -d "$1" 2>/dev/null; shift; exec "$@"'
  return [shell, '-c', script, 'evsys', String(memoryMb * 1024), ...command]
}

function unref(stream: Stream | null | undefined): void {
  if (stream !== null && stream !== undefined && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}
