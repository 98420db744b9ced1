// Sandboxes for code that a model wrote, which a worker needs and cannot open where it is shut in itself: this process opens and holds
// them. The worker names a number, writes files of one folder and runs commands there; it reaches no sandbox but those that it opened,
// and all that it runs in them together takes no more memory than the worker may.
import { closeSync, constants, fchmodSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type {
  EnvironmentCall,
  EnvironmentCommand,
  EnvironmentReply,
  ExecSpec,
  Level,
  OpenEnvironment,
} from '../../contracts/index.ts'
import { createSlots, EvsysError, temporaryFolder } from '../../kernel/index.ts'
import { type LocalSandbox, openSandbox } from '../../sandbox/index.ts'
import { type ServedEnvironment, serveEnvironment } from './serve-environment.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** Where files lie and commands start, and where Node is inside, as the verifier `code` knows them. */
const work = '/work'
const node = '/opt/evsys/node'
const mostOpen = Math.min(16, 2 * availableParallelism())
const longestMs = 600_000
const mostOutput = 256_000
const mostProcesses = 256
const bytesPerMb = 1024 * 1024

interface Held {
  readonly served: ServedEnvironment
  readonly sandbox: LocalSandbox
  readonly folder: string
  readonly slot: Disposable
}

type Limits = Pick<WorkerLimits, 'memoryMb' | 'diskMb'>

/** Those of one run. */
export class WorkerSandboxes implements AsyncDisposable {
  readonly #limits: Limits
  readonly #slots = createSlots(mostOpen)
  readonly #held = new Map<number, Held>()
  readonly #closing = new AbortController()
  readonly #memory: MemoryBudget
  #last = 0

  constructor(limits: Limits) {
    this.#limits = limits
    this.#memory = new MemoryBudget(limits.memoryMb * bytesPerMb)
  }

  /** Opens one; waits while as many are open as may be. */
  async open(signal: AbortSignal): Promise<{ sandbox: number; level: Level }> {
    const slot = await this.#slots.take(AbortSignal.any([signal, this.#closing.signal]))
    const folder = temporaryFolder('code')
    try {
      const place = join(folder, 'work')
      mkdirSync(place)
      const mounts = [
        { source: place, target: work, writable: true },
        { source: process.execPath, target: node },
      ]
      const sandbox = await openSandbox({ stateDir: join(folder, 'state'), mounts })
      const served = serveEnvironment(this.#environment(sandbox, place), join(folder, 'scratch'))
      if (this.#closing.signal.aborted) {
        await sandbox[Symbol.asyncDispose]()
        throw this.#closing.signal.reason
      }
      this.#last += 1
      this.#held.set(this.#last, { served, sandbox, folder, slot })
      return { sandbox: this.#last, level: sandbox.level }
    } catch (error) {
      discard(folder, slot)
      throw error
    }
  }

  async call(number: number, asked: EnvironmentCall, signal: AbortSignal): Promise<EnvironmentReply> {
    return await this.#at(number).served.answer(asked, AbortSignal.any([signal, this.#closing.signal]))
  }

  async close(number: number): Promise<void> {
    const held = this.#at(number)
    this.#held.delete(number)
    await end(held)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EvsysError('INTERRUPTED', 'the run is over'))
    const all = [...this.#held.values()]
    this.#held.clear()
    await Promise.all(all.map(end))
  }

  #at(number: number): Held {
    const held = this.#held.get(number)
    if (held === undefined) throw new EvsysError('SANDBOX_FAILED', 'this run has no such sandbox')
    return held
  }

  #environment(sandbox: LocalSandbox, place: string): OpenEnvironment {
    return {
      level: sandbox.level,
      workdir: work,
      exec: async (command, signal) => {
        const spec = specOf(command, this.#limits)
        using _memory = await this.#memory.take(spec.limits.memoryBytes, signal)
        return await sandbox.exec(spec, signal)
      },
      write: async (path, bytes) => writeIn(place, path, bytes),
      killAll: () => sandbox.killAll(),
      spawn: refuse,
      read: refuse,
      upload: refuse,
      download: refuse,
      empty: refuse,
      [Symbol.asyncDispose]: async () => {},
    }
  }
}

function specOf(
  { argv, cwd, env, stdin, user, network, limits = {} }: EnvironmentCommand,
  { memoryMb, diskMb }: Limits,
): ExecSpec {
  if (user !== undefined || network === true) throw refused('a command has neither another account nor the network')
  const { timeoutMs = longestMs, memoryBytes = 512 * bytesPerMb, outputBytes = mostOutput } = limits
  const { processes = 64, diskBytes = 64 * bytesPerMb } = limits
  if (memoryBytes > memoryMb * bytesPerMb)
    throw new EvsysError('SANDBOX_FAILED', `a command asks for more memory than its run may take, ${memoryMb} MB`, {
      fix: 'ask for less, or allow more: `evsys run --limit memory_mb=NUMBER`.',
    })
  return {
    argv,
    cwd: cwd ?? work,
    env,
    stdin,
    limits: {
      timeoutMs: Math.min(timeoutMs, longestMs),
      memoryBytes,
      outputBytes: Math.min(outputBytes, mostOutput),
      processes: Math.min(processes, mostProcesses),
      diskBytes: Math.min(diskBytes, diskMb * bytesPerMb),
    },
  }
}

// What ran inside may have left a link in place of the file: that is removed, and never followed.
function writeIn(place: string, path: string, bytes: Uint8Array): void {
  const name = path.startsWith(`${work}/`) ? path.slice(work.length + 1) : ''
  if (!/^[\w-][\w.-]*$/.test(name)) throw refused(`${JSON.stringify(path)} is no file of ${work}`)
  const file = join(place, name)
  rmSync(file, { force: true })
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const open = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o755)
  try {
    fchmodSync(open, 0o755)
    for (let at = 0; at < bytes.length; ) at += writeSync(open, bytes, at)
  } finally {
    closeSync(open)
  }
}

const refuse = () => Promise.reject(refused('files are written and commands are run, and nothing else'))

function refused(message: string): EvsysError {
  return new EvsysError('SANDBOX_FAILED', `in a sandbox for answers ${message}`)
}

async function end({ served, sandbox, folder, slot }: Held): Promise<void> {
  await served[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  discard(folder, slot)
}

function discard(folder: string, slot: Disposable): void {
  rmSync(folder, { recursive: true, force: true })
  slot[Symbol.dispose]()
}

/** Memory that commands may take together: one waits until the others leave enough. */
class MemoryBudget {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(bytes: number) {
    this.#free = bytes
  }

  async take(bytes: number, signal: AbortSignal): Promise<Disposable> {
    while (this.#free < bytes) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    signal.throwIfAborted()
    this.#free -= bytes
    return {
      [Symbol.dispose]: () => {
        this.#free += bytes
        for (const wake of this.#waiting.splice(0)) wake()
      },
    }
  }
}
