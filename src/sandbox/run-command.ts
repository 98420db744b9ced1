// One command from its start to the end of its last process. Knows no level: it is given a command line of this machine.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import type { ExecResult, ExecSpec } from '../contracts/index.ts'
import { identify, isAlive, onAbort, type ProcessIdentity } from '../kernel/index.ts'
import type { Group } from './cgroups.ts'
import type { Pipe } from './launch.ts'
import { namesIn, textIn } from './proc-files.ts'
import { sandboxFailed } from './sandbox-error.ts'
import { childrenOf, treeOf, watchUsage } from './watch-usage.ts'

type Limit = keyof ExecSpec['limits']
type StreamName = 'stdout' | 'stderr'

export interface CommandOptions {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  /** Open files for the numbers 3 and up. */
  readonly files: readonly (number | Pipe | 'ignore')[]
  /** Ends what outlives the program. */
  readonly stop?: readonly string[] | undefined
  /** Exit code by which the program reports that it could not start the command. */
  readonly brokenCode?: number | undefined
  /** Its processes live in a namespace that ends with its first. */
  readonly contained: boolean
  readonly spec: ExecSpec
  readonly group?: Group | undefined
  readonly places: readonly string[]
  /** Called for every chunk; the answer says whether there is room for more. */
  onOutput?: ((stream: StreamName, chunk: Buffer) => boolean) | undefined
  readonly interactive: boolean
  readonly signal: AbortSignal
}

/** Past this a command that only floods is ended. */
const mostDropped = 64 * 2 ** 20

export class Command {
  readonly exit: Promise<ExecResult>
  readonly #child: ChildProcess
  readonly #options: CommandOptions
  readonly #texts: Record<StreamName, CappedText>
  #first: ProcessIdentity | undefined
  readonly #startLine: Readable | null
  readonly #firstLine: Readable | null
  #firstReport = ''
  #hasStarted = false
  #limitHit: Limit | undefined
  #isKilled = false
  #hasEnded = false
  #watch: ReturnType<typeof watchUsage> | undefined

  constructor(options: CommandOptions) {
    options.signal.throwIfAborted()
    this.#options = options
    const { outputBytes } = options.spec.limits
    this.#texts = { stdout: new CappedText(outputBytes), stderr: new CappedText(outputBytes) }
    this.#child = start(options)
    for (const name of ['stdout', 'stderr'] as const)
      this.#child[name]?.on('data', (chunk: Buffer) => this.#receive(name, chunk))
    this.#startLine = this.#pipe('started')
    this.#startLine?.once('data', () => this.#onStarted())
    this.#firstLine = this.#pipe('first')
    this.#firstLine?.on('data', (chunk: Buffer) => {
      this.#firstReport += chunk.toString('latin1')
    })
    this.#hasStarted = this.#startLine === null
    this.exit = this.#follow()
    this.exit.catch(() => undefined) // it rejects for the one that waits for it
    if (this.#hasStarted) this.#onStarted()
  }

  #pipe(reports: Pipe['reports']): Readable | null {
    const at = this.#options.files.findIndex((file) => typeof file === 'object' && file.reports === reports)
    const pipe = at < 0 ? null : this.#child.stdio[3 + at]
    return pipe instanceof Readable ? pipe : null
  }

  get stdin() {
    return this.#child.stdin
  }

  resume(): void {
    this.#child.stdout?.resume()
    this.#child.stderr?.resume()
  }

  /** Ends every process of it; `exit` resolves when they are gone. */
  kill(limit?: Limit): void {
    if (this.#isKilled) return
    this.#isKilled = true
    this.#limitHit = limit
    this.#strike()
  }

  #strike(): void {
    const { pid } = this.#child
    const { stop, contained } = this.#options
    if (stop !== undefined) execFile(stop[0] ?? '', stop.slice(1), () => undefined)
    if (pid === undefined) return
    if (contained) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return // its number may be another's by now
      // Stopped, it starts nothing more while we count what it has started.
      send(pid, 'SIGSTOP')
      for (const each of treeOf(pid).reverse()) send(each)
    } else for (const each of [-pid, ...treeOf(pid)]) send(each)
  }

  #onStarted(): void {
    this.#hasStarted = true
    const { pid = 0 } = this.#child
    const { contained, spec, group, places } = this.#options
    if (this.#child.exitCode !== null || pid === 0) return
    const [first] = contained ? childrenOf(pid) : [pid]
    if (first !== undefined && contained) this.#first = identify(first)
    if (first === undefined || process.platform !== 'linux') return
    const memory = group === undefined
    this.#watch = watchUsage({ pid: first, limits: spec.limits, memory, places, onOver: (limit) => this.kill(limit) })
  }

  #receive(name: StreamName, chunk: Buffer): void {
    this.#texts[name].add(chunk)
    const { onOutput, spec } = this.#options
    if (onOutput !== undefined) {
      // What a command leaves is little: there is no wait for a reader any more.
      if (!onOutput(name, chunk) && !this.#hasEnded) {
        this.#child.stdout?.pause()
        this.#child.stderr?.pause()
      }
      return
    }
    const dropped = this.#texts.stdout.droppedBytes + this.#texts.stderr.droppedBytes
    if (dropped > Math.max(mostDropped, 16 * spec.limits.outputBytes)) this.kill('outputBytes')
  }

  async #follow(): Promise<ExecResult> {
    const { spec, signal, group, contained } = this.#options
    const timer = setTimeout(() => this.kill('timeoutMs'), Math.min(spec.limits.timeoutMs, 2 ** 31 - 1))
    const quiet = onAbort(signal, () => this.kill())
    try {
      const end = await ended(this.#child)
      this.#hasEnded = true
      clearTimeout(timer)
      this.#watch?.stop()
      if (!contained) this.#strike()
      await drained([this.#firstLine], contained)
      const first = this.#first ?? firstNamed(this.#firstReport)
      if (first !== undefined) await gone(first)
      await drained([this.#child.stdout, this.#child.stderr, this.#startLine], contained)
      if (signal.aborted) throw signal.reason
      const isBroken = !this.#hasStarted || (end.code !== null && end.code === this.#options.brokenCode)
      if (isBroken && !this.#isKilled) throw this.#broken()
      return this.#result(end)
    } finally {
      clearTimeout(timer)
      quiet()
      this.#watch?.stop()
      group?.remove()
    }
  }

  #result({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): ExecResult {
    const { stdout, stderr } = this.#texts
    // The namespace's first process, like a shell, reports a signal by 128 and its number.
    const named = code !== null && code > 128 ? signalName(code - 128) : null
    const limitHit = this.#limitHit ?? this.#kernelLimit(code, named)
    const peakMemoryBytes = this.#options.group?.peakBytes() ?? this.#watch?.peakBytes()
    return {
      exitCode: this.#isKilled ? null : code,
      signal: this.#isKilled ? 'SIGKILL' : (signal ?? named),
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      truncated: stdout.droppedBytes + stderr.droppedBytes > 0,
      limitHit,
      peakMemoryBytes,
    }
  }

  #kernelLimit(code: number | null, signal: string | null): Limit | undefined {
    if (signal === 'SIGXFSZ') return 'diskBytes'
    return code !== 0 && this.#options.group?.ranOutOfMemory() === true ? 'memoryBytes' : undefined
  }

  #broken(): Error {
    const last = this.#texts.stderr.toString().trim().split('\n').slice(-3).join('; ')
    return sandboxFailed(
      `the sandbox could not be made: ${last || 'it ended without a word'}`,
      '`evsys doctor` looks for the cause.',
    )
  }
}

function start({ argv, env, cwd = '/', files, interactive, spec }: CommandOptions): ChildProcess {
  try {
    const input = interactive || spec.stdin !== undefined ? 'pipe' : 'ignore'
    const others = files.map((file) => (typeof file === 'object' ? 'pipe' : file))
    const stdio = [input, 'pipe', 'pipe', ...others, ...covers(others.length + 3)] as const
    const child = spawn(argv[0] ?? '', argv.slice(1), { env, cwd, detached: true, stdio: [...stdio] })
    child.stdin?.on('error', () => undefined) // it need not read what it is given
    if (!interactive && spec.stdin !== undefined) child.stdin?.end(spec.stdin)
    return child
  } finally {
    for (const file of files) if (typeof file === 'number') closeSync(file)
  }
}

let cover: { readonly inherited: ReadonlySet<number>; readonly empty: number } | undefined

// Files that were left open by our parent would reach the command: an empty one is put over each of their numbers.
function covers(from: number): (number | 'ignore')[] {
  if (cover === undefined) {
    const inherited = new Set(
      namesIn('/proc/self/fd')
        .map(Number)
        .filter((file) => file < 1024 && isInherited(file)),
    )
    cover = { inherited, empty: openSync('/dev/null', 'r+') }
  }
  const { inherited, empty } = cover
  const length = Math.max(0, Math.max(0, ...inherited) + 1 - from)
  return Array.from({ length }, (_, i) => (inherited.has(from + i) ? empty : 'ignore'))
}

function isInherited(file: number): boolean {
  const flags = /^flags:\s+([0-7]+)$/m.exec(textIn(`/proc/self/fdinfo/${file}`))?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & 0o2000000) === 0 // not closed when a program is started
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(sandboxFailed(`the sandbox could not be started: ${cause.message}`, undefined, cause)),
    )
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

// A command may be over before we have looked for its namespace, whose other processes then end a little later. By now the number
// could be that of another process: only the first one of a namespace within ours is meant.
function firstNamed(report: string): ProcessIdentity | undefined {
  const pid = Number(/"child-pid":\s*(\d+)/.exec(report)?.[1])
  if (!Number.isSafeInteger(pid)) return undefined
  const first = identify(pid)
  return /^NSpid:.*\t1$/m.test(textIn(`/proc/${pid}/status`)) && pid !== 1 ? first : undefined
}

// The kernel ends a namespace together with its first process, and that one is gone only after all others.
async function gone(first: ProcessIdentity): Promise<void> {
  while (isAlive(first)) {
    send(first.pid)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function drained(streams: readonly (Readable | null)[], contained: boolean): Promise<void> {
  for (const stream of streams) {
    if (stream === null || stream.readableEnded || stream.destroyed) continue
    stream.resume()
    await Promise.race([closed(stream), ...(contained ? [] : [new Promise((resolve) => setTimeout(resolve, 200))])])
    stream.destroy()
  }
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', () => resolve())
    stream.once('end', () => resolve())
  })
}

function send(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended
  }
}

function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? null
}

// The first part of a stream as text: what comes after the limit is counted and dropped.

/** Keeps at most so many bytes. */
export class CappedText {
  readonly #limit: number
  readonly #chunks: Uint8Array[] = []
  #kept = 0
  #dropped = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  add(chunk: Uint8Array): void {
    const room = this.#limit - this.#kept
    const part = chunk.byteLength <= room ? chunk : chunk.subarray(0, room)
    if (part.byteLength > 0) this.#chunks.push(part)
    this.#kept += part.byteLength
    this.#dropped += chunk.byteLength - part.byteLength
  }

  get droppedBytes(): number {
    return this.#dropped
  }

  /** What was kept, and after it a line that reports what was not. */
  toString(): string {
    // A character that the limit cuts in two is left out.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(this.#chunks), {
      stream: this.#dropped > 0,
    })
    return this.#dropped === 0 ? text : `${text}\n[output truncated: ${this.#dropped} bytes left out]\n`
  }
}
