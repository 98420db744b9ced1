// The work of a run worker's process: it loads the project's plugins once, then does one run after another for the controller. It lives
// only as long as the controller does, and holds nothing of the record: what it reports goes into the segment of its run.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { warmUpClient } from '../../backends/index.ts'
import { builtins } from '../../builtins/index.ts'
import {
  type AddressVariable,
  type AgentOrder,
  type AgentRecord,
  type ErrorRecord,
  type GivenTrainer,
  type OpenEnvironment,
  type RunAssignment,
  type Weights,
  type WorkerStart,
  workerProtocol,
} from '../../contracts/index.ts'
import {
  createRedactor,
  dropSpares,
  EvsysError,
  errorRecord,
  messageOf,
  type OpenRegistry,
  onAbort,
  openRegistry,
  type Parent,
  placeInStack,
  serve,
  stampPlugins,
} from '../../kernel/index.ts'
import { remotePolicy } from '../../rollout/index.ts'
import type { Evaluate } from '../train/run-scope.ts'
import { observeProcess } from './leaked-processes.ts'
import { remoteEnvironment } from './remote-environment.ts'
import { runInWorker } from './run-in-worker.ts'
import { notifyWritten } from './segment-writer.ts'

type Protocol = typeof workerProtocol
interface Assigned {
  readonly assignment: RunAssignment
  readonly secrets: Readonly<Record<string, string>>
  readonly addresses?: Readonly<Partial<Record<AddressVariable, string>>> | undefined
  readonly has_trainer?: boolean | undefined
}

/** What the controller may ask for while weights of the run are evaluated. */
type Evaluation = Pick<Parameters<Evaluate>[0], 'runAgent'>

export async function serveRuns(): Promise<void> {
  Error.stackTraceLimit = 100 // enough to reach the author's line under a library's
  const builtIn = builtins()
  builtIn.catch(() => {}) // thrown where they are used
  await serve(workerProtocol, (parent) => {
    const worker = new RunServer(parent, builtIn)
    return {
      load: (start) => worker.load(start),
      run: (assigned) => worker.run(assigned),
      stop: (reason) => worker.stop(reason),
      trainer_gone: (error) => worker.trainerGone(error),
      act: ({ evaluation, agent, order }, signal) => worker.act(evaluation, agent, order, signal),
    }
  })
}

class RunServer {
  readonly #parent: Parent<Protocol>
  readonly #builtIn: ReturnType<typeof builtins>
  readonly #crash: (cause: unknown) => void
  readonly #evaluations = new Map<number, Evaluation>()
  readonly #signal = new AbortController().signal
  #loading: Promise<{ readonly plugins: OpenRegistry; readonly heapMb: number }> | undefined
  #files: readonly string[] = []
  #redact = createRedactor()
  #stopping = new AbortController()
  #gone = new AbortController()

  constructor(parent: Parent<Protocol>, builtIn: ReturnType<typeof builtins>) {
    this.#parent = parent
    this.#builtIn = builtIn
    this.#crash = reportTheEnd(
      parent,
      () => this.#files,
      (text) => this.#redact(text),
    )
  }

  async load({ project_dir, plugin_files, heap_mb, blocked_ms, model }: WorkerStart) {
    const watchdog = this.#parent.watch({ timeoutMs: blocked_ms })
    watchdog.keepTime()
    let stamps: ReturnType<typeof stampPlugins> = stampPlugins(project_dir, [])
    const open = async () => {
      const plugins = await openRegistry({
        builtins: await this.#builtIn,
        projectDir: project_dir,
        plugins: plugin_files,
        signal: this.#signal,
        onRead: (read) => {
          this.#files = read
          watchdog.know(read)
          stamps = stampPlugins(project_dir, read)
        },
      })
      return { plugins, heapMb: heap_mb }
    }
    this.#loading = open()
    await this.#loading.catch(this.#crash)
    const files = await stamps
    warmUpClient(model) // there is time until the first run
    return { files }
  }

  async run({ assignment, secrets, addresses, has_trainer }: Assigned) {
    const loaded = await this.#loading
    if (loaded === undefined) throw new EvsysError('INTERNAL', 'the worker has loaded no plugins')
    this.#stopping = new AbortController()
    this.#gone = new AbortController()
    this.#evaluations.clear()
    this.#parent.notify('taken', null)
    try {
      return await this.#doRun(loaded, { assignment, secrets, addresses, has_trainer })
    } catch (error) {
      const { code, message, fix } = errorRecord(error)
      this.#parent.notify('failing', {
        code: code === 'FILE_FAILED' ? code : 'WORKER_DIED',
        message: this.#redact(message),
        fix,
      })
      this.#parent.leave()
      throw error
    }
  }

  trainerGone({ code, message, fix }: ErrorRecord): void {
    this.#gone.abort(new EvsysError(code, message, { fix, retryable: true }))
  }

  async #openTrainer(): Promise<GivenTrainer> {
    const { signal: gone } = this.#gone
    const { socket, key } = await this.#parent.call('trainer', null)
    return { url: 'http://localhost', socketPath: socket, key, gone, async [Symbol.asyncDispose]() {} }
  }

  async #openSandbox(): Promise<OpenEnvironment> {
    const parent = this.#parent
    const { sandbox, level } = await parent.call('open_sandbox', null)
    const environment = remoteEnvironment({ level, workdir: '/work' }, (asked, signal) =>
      parent.call('sandbox', { sandbox, asked }, { signal, onAbort: 'wait' }),
    )
    return {
      ...environment,
      async [Symbol.asyncDispose]() {
        await parent.call('close_sandbox', sandbox)
      },
    }
  }

  stop(reason: string): void {
    this.#stopping.abort(new EvsysError('INTERRUPTED', reason))
  }

  /** An agent asks a model and acts in an environment that others hold; aborted: its phase is over. */
  async act(evaluation: number, agent: number, order: AgentOrder, signal: AbortSignal): Promise<AgentRecord> {
    const phase = new AbortController()
    const over = new Promise<never>((_, reject) => phase.signal.addEventListener('abort', () => reject(phaseIsOver())))
    over.catch(() => {}) // raced with below
    const stopping = new AbortController()
    const quiet = onAbort(signal, () => stopping.abort(phaseIsOver()))
    const environment =
      order.environment &&
      remoteEnvironment(order.environment, (asked, own) =>
        Promise.race([this.#parent.call('environment', { agent, asked }, { signal: own, onAbort: 'wait' }), over]),
      )
    const policy = remotePolicy({ session: '', takesTools: order.takes_tools }, (asked, own) =>
      Promise.race([this.#parent.call('policy', { agent, asked }, { signal: own }), over]),
    )
    try {
      const begun = this.#evaluations.get(evaluation)
      if (begun === undefined) throw phaseIsOver()
      return await begun.runAgent(order, { policy, environment }, stopping.signal)
    } catch (error) {
      const failed = { ...errorRecord(error), infra: true }
      return { prompt_tokens: 0, completion_tokens: 0, latency_s: 0, turns: [], error: failed }
    } finally {
      quiet()
      phase.abort()
    }
  }

  async #doRun(
    { plugins, heapMb }: { plugins: OpenRegistry; heapMb: number },
    { assignment, secrets, addresses, has_trainer = false }: Assigned,
  ) {
    const parent = this.#parent
    this.#redact = createRedactor(secrets)
    const left = observeProcess(heapMb)
    const notices = notifyWritten((nextItem) => parent.notify('written', nextItem))
    const outcome = await runInWorker({
      assignment,
      secrets,
      addresses,
      trainer: has_trainer ? () => this.#openTrainer() : undefined,
      openSandbox: isShutIn ? () => this.#openSandbox() : undefined,
      plugins,
      signal: this.#signal,
      stopping: this.#stopping.signal,
      onWritten: notices.written,
      evaluate: async ({ runAgent, ...question }) => {
        const { evaluation, weights } = question
        this.#evaluations.set(evaluation, { runAgent })
        try {
          return await parent.call('evaluate', { ...question, weights: named(weights) })
        } finally {
          this.#evaluations.delete(evaluation)
        }
      },
    })
    notices.close()
    dropSpares()
    await wait(0) // what it left for the next turn, timers and rejections, belongs to this run
    await setImmediate()
    const reusable = left.find().length === 0
    if (reusable && isShutIn) await emptyFolders()
    return { outcome, reusable }
  }
}

function named(weights: Weights) {
  return 'uri' in weights ? { kind: weights.kind, uri: weights.uri } : { baseModel: weights.baseModel }
}

function phaseIsOver(): EvsysError {
  return new EvsysError('INTERRUPTED', 'the phase of the agent is over')
}

/**
 * Has the process report why it ends, where that can be reported: foreign code called process.exit, or threw where nothing catches.
 * Returns what reports an error and ends the process. `files` are the author's, to find the line in; `clean` removes secrets.
 */
function reportTheEnd(
  parent: Parent<Protocol>,
  files: () => readonly string[],
  clean: (text: string) => string,
): (cause: unknown) => void {
  const end = (message: string, fix: string, cause: unknown) => {
    const where = placeInStack(cause, files())?.where
    parent.notify('failing', { code: 'WORKER_DIED', message: clean(message), fix, where })
    parent.leave()
  }
  process.exit = (code?: unknown): never => {
    const cause = new Error('process.exit')
    const message = `the recipe ended its process with process.exit(${code === undefined ? '' : String(code)})`
    end(message, 'throw an error instead: the run fails with its message.', cause)
    throw cause // the process is being killed; nothing after the call may run
  }
  const crash = (cause: unknown) =>
    end(
      `an error was thrown where nothing catches it: ${messageOf(cause)}`,
      'await every promise, and catch errors in timers and event handlers.',
      cause,
    )
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  return crash
}

/** Set by those who start this process in a sandbox, whose folders for temporary files are its alone. */
const isShutIn = process.env.EVSYS_SHUT_IN === '1'
/** Open while this process lives. */
const kept = /^evsys-/

/** Deletes what a run left in temporary folders, so that the next begins with none of it. What is mounted in them stays. */
async function emptyFolders(): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '')
  for (const folder of ['/tmp', '/tmp/home', '/dev/shm']) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name)
      const isMount = mounts.some((mount) => mount === path || mount.startsWith(`${path}/`))
      if (isMount || kept.test(name) || path === '/tmp/home') continue
      await rm(path, { recursive: true, force: true }).catch(() => {}) // it is the next run that would miss the space
    }
  }
}
