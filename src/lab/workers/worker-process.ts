// One run worker, as the controller has it: a process with code of the project that does runs, one at a time. However it ends, that
// becomes the typed failure of the run it was at. It names weights to be evaluated, and says the words of its agents; it cannot say what
// any of that is worth.
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTrainer, type TrainerProcess, type TrainerProcessOptions } from '../../backends/index.ts'
import {
  type AddressVariable,
  type AgentOrder,
  type AgentRecord,
  type ErrorRecord,
  type Evaluated,
  type FileStamp,
  type OpenEnvironment,
  type OpenInferenceClient,
  type RunAssignment,
  type Weights,
  type WorkerStart,
  workerProtocol,
} from '../../contracts/index.ts'
import {
  areUnchanged,
  type Child,
  createRateBound,
  createRedactor,
  EvsysError,
  errorRecord,
  type ForkSpec,
  guardedProcess,
  type Handlers,
  identify,
  messageOf,
  onAbort,
  openChild,
  type PluginReference,
  type ProcessIdentity,
  type ProcessPlace,
  startSpare,
} from '../../kernel/index.ts'
import { openProcessSandbox, type ProcessLimits, type ProcessSandbox } from '../../sandbox/index.ts'
import { type ServedEnvironment, serveEnvironment } from './serve-environment.ts'
import { createPrintedLines, lostRun, overLimit, type WorkerLimits, watchGrowth } from './worker-limits.ts'
import { sandboxOptions, type WorkerSandbox } from './worker-sandbox.ts'
import { WorkerSandboxes } from './worker-sandboxes.ts'

/** Weights that a run names to be evaluated. */
export interface EvaluationQuestion {
  readonly evaluation: number
  readonly benchmark: string
  /** Absent: after training. */
  readonly step?: number | undefined
  readonly weights: Weights
  /** In place of that of the benchmark; empty: none. */
  readonly systemPrompt?: string | undefined
  /** Whether the run wants to know what was answered. */
  readonly withAnswers: boolean
  /** Runs an agent of the project, in the worker. */
  readonly runAgent: RunAgent
  /** Aborted: no one waits for the score any more. */
  readonly signal: AbortSignal
}

export interface RunOptions {
  /** The segment holds every item before `nextItem`. */
  onWritten(nextItem: number): void
  /** A rejection fails the run. */
  onEvaluate(question: EvaluationQuestion): Promise<Evaluated>
  /** Aborted: the run saves and leaves. */
  readonly stopping: AbortSignal
  /** Aborted: the worker is killed and the call rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** Those that the plugins of the run declare; no other reaches the worker. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
  /** Of services, by the variables that name them. */
  readonly addresses?: Readonly<Partial<Record<AddressVariable, string>>> | undefined
  /** The trainer that the run is given where it cannot start one. */
  readonly trainer?: TrainerOrder | undefined
  /** What the worker's plugins print. */
  onPrinted?: ((text: string) => void) | undefined
}

/** What a run trains on, and is not to start itself. */
export type TrainerOrder = Pick<TrainerProcessOptions, 'engine' | 'models'>

/** How a run ended in this worker. `isTaken`: false when none of its code ran, so that another worker can do it. */
export type WorkerEnd =
  | { readonly outcome: 'finished' | 'interrupted'; readonly reusable: boolean }
  | { readonly outcome: 'lost'; readonly error: ErrorRecord; readonly isTaken: boolean }

export type PluginFiles = RunAssignment['plugin_files']

/** Plugins as they are sent to a child process. */
export function pluginFilesOf(plugins: readonly PluginReference[]): PluginFiles {
  return plugins.map(({ spec, from }) => ({ spec, from }))
}

export interface WorkerProcessOptions {
  readonly projectDir: string
  /** A promise: the process starts now and loads the plugins when they are known. */
  readonly pluginFiles: PluginFiles | Promise<PluginFiles>
  readonly limits: WorkerLimits
  /** Paths that recipe code must not see. */
  readonly hidden?: readonly string[] | undefined
  /** Where it lives; absent: it is not shut in. */
  readonly sandbox?: WorkerSandbox | undefined
  /** What it starts before it loads anything. */
  readonly early?: ForkSpec | undefined
}

/** An agent of the project, the model that it asks, and the environment that it acts in. */
interface AgentTask {
  readonly order: AgentOrder
  readonly policy: OpenInferenceClient
  /** Absent: there is none. `scratch`: a folder that code of the project cannot see. */
  readonly environment?: { readonly held: OpenEnvironment; readonly scratch: string } | undefined
}

/** Runs an agent of the project in the worker. When the signal aborts the agent is stopped, and what it did is still waited for. */
export type RunAgent = (task: AgentTask, signal: AbortSignal) => Promise<AgentRecord>

const bytesPerMb = 1024 * 1024
/** First sign of life of a process, on a machine that may be busy with other things. */
const startMs = 3 * 60_000
/** The catalog has loaded the same plugins before, within seconds. */
const loadMs = 10 * 60_000

/** Starts a worker. It loads its plugins while it waits for the first run. */
export function startWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  return new RunWorker(options)
}

export type WorkerProcess = Pick<RunWorker, 'identity' | 'isFresh' | 'isGone' | 'run' | 'close'>

/** What belongs to the run that the worker is at. */
interface RunUnderWay {
  readonly assignment: RunAssignment
  readonly options: RunOptions
  isTaken: boolean
  isReportFlood: boolean
  print(text: string): void
  onAlive(): void
}

class RunWorker {
  readonly identity: ProcessIdentity
  readonly #child: Child<typeof workerProtocol>
  readonly #limits: WorkerLimits
  readonly #sandbox: ProcessSandbox | undefined
  readonly #acting = new Map<number, { policy: OpenInferenceClient; environment: ServedEnvironment | undefined }>()
  #agents = 0
  #trainers = 0
  #limitHit: keyof ProcessLimits | undefined
  #stamps: readonly FileStamp[] | undefined
  #current: RunUnderWay | undefined
  #failing: ErrorRecord | undefined
  #trainer: Promise<TrainerProcess> | undefined
  #sandboxes: WorkerSandboxes | undefined
  #isLate = false
  #hasLoaded = false
  /** Settles when it has loaded its plugins: then its sandbox is made. */
  #loading: Promise<void> = Promise.resolve()

  constructor({ projectDir, pluginFiles, limits, hidden = [], sandbox, early: wanted }: WorkerProcessOptions) {
    // In a sandbox it cannot start a trainer: this process does.
    const early = sandbox === undefined ? wanted : undefined
    if (sandbox !== undefined && wanted !== undefined) startSpare({ ...wanted, cwd: projectDir })
    this.#limits = limits
    this.#sandbox = sandbox && openProcessSandbox(sandboxOptions(sandbox, bytesOf(limits)))
    const printed = createRateBound({ burst: limits.printedMb * bytesPerMb, perSecond: bytesPerMb / 4 })
    const notices = createRateBound({ burst: 2000, perSecond: 200 })
    this.#child = openChild({
      protocol: workerProtocol,
      start: guardedProcess({
        script: new URL(`../../runner/worker/worker-child${extname(import.meta.url)}`, import.meta.url),
        spares: early === undefined ? [] : [early],
        cwd: projectDir,
        hidden,
        sandbox: this.#place(sandbox),
        heapMb: limits.heapMb,
        memoryMb: limits.memoryMb,
        messageMb: 1,
        onPrinted: (text) => {
          this.#current?.print(text)
          return printed.take(text.length)
        },
      }),
      handlers: this.#handlers(),
      mayNotice: () => notices.take(1),
      onAlive: () => this.#current?.onAlive(),
      deathOf: () => new EvsysError('INTERRUPTED', 'the worker is gone'),
    })
    this.identity = identify(this.#child.pid)
    this.#load(pluginFiles, (files) => ({
      project_dir: projectDir,
      plugin_files: files,
      heap_mb: limits.heapMb,
      blocked_ms: limits.blockedMs,
      model: wanted?.args[1],
    }))
  }

  /** Whether it lives and its plugins are still what it loaded. */
  async isFresh(): Promise<boolean> {
    const isUnchanged = async () => this.#stamps === undefined || (await areUnchanged(this.#stamps))
    return this.#child.end === undefined && (await isUnchanged()) && this.#child.end === undefined
  }

  isGone(): boolean {
    return this.#child.end !== undefined
  }

  async run(assignment: RunAssignment, options: RunOptions): Promise<WorkerEnd> {
    const { signal, stopping, secrets = {}, addresses = {} } = options
    const lines = createPrintedLines(createRedactor(secrets), (text) => options.onPrinted?.(text))
    const run: RunUnderWay = {
      assignment,
      options,
      isTaken: false,
      isReportFlood: false,
      print: lines.add,
      onAlive: watchGrowth(assignment.segment_file, this.#limits.reportedMb, () => {
        run.isReportFlood = true
        this.#child.stop('flood')
      }),
    }
    this.#current = run
    let quiet = () => {}
    let unwatch = () => {}
    try {
      unwatch = await this.#showRun(assignment, signal)
      const { silenceMs } = this.#limits
      const limits = { silenceMs, firstMs: startMs }
      const running = this.#child.call(
        'run',
        { assignment, secrets, addresses, has_trainer: this.#sandbox !== undefined && options.trainer !== undefined },
        { signal, onAbort: 'kill', ...limits },
      )
      quiet = onAbort(stopping, () => this.#child.notify('stop', messageOf(stopping.reason)))
      const { outcome, reusable } = await running
      return { outcome, reusable: reusable && this.#child.end === undefined && (await this.#isClean()) }
    } catch (error) {
      if (signal.aborted || this.#child.end === undefined) throw error // of a callback of ours, in the second case
      return { outcome: 'lost', error: this.#lost(run), isTaken: run.isTaken }
    } finally {
      unwatch()
      await this.#sandboxes?.[Symbol.asyncDispose]()
      this.#sandboxes = undefined
      await this.#closeTrainer()
      quiet()
      lines.close()
      this.#current = undefined
    }
  }

  /** Kills it and waits until it is gone. */
  async close(): Promise<void> {
    const { end } = this.#child
    const isBroken = end !== undefined && !this.#hasLoaded && end.stopped === undefined
    await this.#child.close()
    await this.#sandbox?.close({ hasBegun: !isBroken })
  }

  #load(pluginFiles: PluginFiles | Promise<PluginFiles>, startOf: (files: PluginFiles) => WorkerStart): void {
    // Its timer holds nothing up: a run that waits for it has another.
    const late = setTimeout(() => {
      this.#isLate = true
      this.#child.stop('silent')
    }, loadMs).unref()
    const load = async () => {
      const { files } = await this.#child.call('load', startOf(await pluginFiles))
      this.#hasLoaded = true
      this.#sandbox?.settled()
      this.#stamps = files
    }
    this.#loading = load()
    this.#loading
      .catch(() => this.#child.stop('closed')) // the plugins are not known, or the process is gone: the run says why
      .finally(() => clearTimeout(late))
      .catch(() => {})
  }

  #handlers(): Handlers<(typeof workerProtocol)['parent']> {
    const now = () => {
      if (this.#current === undefined) throw new EvsysError('INTERRUPTED', 'no run is under way')
      return this.#current
    }
    return {
      taken: () => {
        if (this.#current !== undefined) this.#current.isTaken = true
      },
      written: (nextItem) => this.#current?.options.onWritten(nextItem),
      failing: (error) => {
        this.#failing = error
      },
      evaluate: async ({ weights, system_prompt: systemPrompt, with_answers: withAnswers, ...question }, signal) => {
        const { options } = now()
        return await options.onEvaluate({
          ...question,
          weights,
          systemPrompt,
          withAnswers,
          runAgent: (task, own) => this.#runAgent(question.evaluation, task, own),
          signal: AbortSignal.any([options.signal, signal]),
        })
      },
      trainer: async () => {
        const { assignment, options } = now()
        const { socketPath = '', key } = await this.#openTrainer(assignment, options)
        return { socket: join('/tmp', basename(socketPath)), key }
      },
      open_sandbox: async (_, signal) => await this.#sandboxesNow().open(signal),
      sandbox: async ({ sandbox, asked }, signal) => await this.#sandboxesNow().call(sandbox, asked, signal),
      close_sandbox: async (sandbox) => {
        await this.#sandboxesNow().close(sandbox)
        return null
      },
      policy: async ({ agent, asked }, signal) => {
        const { policy } = this.#actingAs(agent)
        const { answerQuestion } = await import('../../rollout/index.ts') // few runs have an agent of the project
        return await answerQuestion(policy, asked, signal)
      },
      environment: async ({ agent, asked }, signal) => {
        const { environment } = this.#actingAs(agent)
        if (environment === undefined) throw new EvsysError('AGENT_FAILED', 'its task has no environment')
        return await environment.answer(asked, signal)
      },
    }
  }

  #sandboxesNow(): WorkerSandboxes {
    if (this.#sandbox === undefined || this.#current === undefined)
      throw new EvsysError('SANDBOX_FAILED', 'a worker that is not shut in opens its sandboxes itself')
    this.#sandboxes ??= new WorkerSandboxes(this.#limits)
    return this.#sandboxes
  }

  #actingAs(agent: number) {
    const acting = this.#acting.get(agent)
    if (acting !== undefined) return acting
    throw new EvsysError(
      'AGENT_FAILED',
      'the phase of the agent is over: its model and its environment are closed to it',
    )
  }

  async #runAgent(evaluation: number, { order, policy, environment }: AgentTask, signal: AbortSignal) {
    signal.throwIfAborted()
    this.#agents += 1
    const agent = this.#agents
    await using served = environment && serveEnvironment(environment.held, environment.scratch)
    this.#acting.set(agent, { policy, environment: served })
    try {
      return await this.#child.call('act', { evaluation, agent, order }, { signal, onAbort: 'wait' })
    } finally {
      this.#acting.delete(agent)
    }
  }

  #place(sandbox: WorkerSandbox | undefined): ProcessPlace | undefined {
    const held = this.#sandbox
    if (held === undefined || sandbox === undefined) return undefined
    return { launch: (command, env, cwd) => held.launch(command, { ...env, ...sandbox.env }, cwd) }
  }

  #openTrainer({ run_dir: runDir, project_dir: project }: RunAssignment, { trainer, signal }: RunOptions) {
    const sandbox = this.#sandbox
    if (sandbox === undefined || trainer === undefined) throw new EvsysError('INTERNAL', 'the run has no trainer')
    this.#trainers += 1
    const socket = join(sandbox.tmp, `evsys-trainer-${this.#trainers}.sock`)
    const onNotice = () => {}
    this.#trainer ??= startTrainer({ ...trainer, runDir, project, socket, signal, onNotice }).then((started) => {
      onAbort(started.gone, () => this.#child.notify('trainer_gone', errorRecord(started.gone.reason)))
      return started
    })
    return this.#trainer
  }

  async #closeTrainer(): Promise<void> {
    const opened = await this.#trainer?.catch(() => undefined)
    this.#trainer = undefined
    await opened?.[Symbol.asyncDispose]()
  }

  /** Lets the worker see the folder of its run and what it starts from, and holds it to its limits. Returns what ends that. */
  async #showRun(
    { run_dir: runDir, start_weights, arm_weights, resume, benchmarks }: RunAssignment,
    signal: AbortSignal,
  ) {
    const sandbox = this.#sandbox
    if (sandbox === undefined) return () => {}
    await Promise.race([this.#loading.catch(() => {}), this.#child.ended, untilAborted(signal)])
    if (this.#child.end !== undefined || signal.aborted) return () => {} // the call below says it
    await sandbox.show(runDir, { writable: true })
    const weights = [start_weights, ...Object.values(arm_weights), resume?.uri].flatMap(folderOfWeights)
    const questions = benchmarks.flatMap(({ tasks_file }) => (tasks_file === undefined ? [] : [dirname(tasks_file)]))
    for (const folder of new Set([...weights, ...questions])) {
      if (folder.startsWith(runDir)) continue
      await sandbox.show(folder, { writable: false })
    }
    return sandbox.watch([runDir], (limit) => {
      this.#limitHit = limit
      this.#child.stop('closed')
    })
  }

  /** Whether the run has left nothing in its sandbox, whose folders are taken away. */
  async #isClean(): Promise<boolean> {
    const sandbox = this.#sandbox
    if (sandbox === undefined) return true
    if (!sandbox.isAlone()) return false
    return await sandbox.hideAll().then(
      () => true,
      () => false, // something inside still uses them
    )
  }

  #lost(run: RunUnderWay): ErrorRecord {
    const { end } = this.#child
    const limit = this.#limitHit ?? (end === undefined ? undefined : this.#sandbox?.limitHit())
    if (limit !== undefined) return overLimit(limit, this.#limits)
    if (end === undefined || end.stopped === 'closed') {
      return new EvsysError('INTERRUPTED', 'the worker was closed').toRecord()
    }
    return lostRun(end, {
      limits: this.#limits,
      secrets: run.options.secrets ?? {},
      failing: this.#failing,
      flood: run.isReportFlood ? 'reported' : end.flooded,
      isLate: this.#isLate,
    })
  }
}

function bytesOf({ memoryMb, processes, diskMb }: WorkerLimits): ProcessLimits {
  return { memoryBytes: memoryMb * bytesPerMb, processes, diskBytes: diskMb * bytesPerMb }
}

/** The folder of weights that are files; none: a service has them. */
function folderOfWeights(uri: string | undefined): string[] {
  if (uri === undefined || !uri.startsWith('mock:///')) return []
  return [dirname(fileURLToPath(`file:${uri.slice('mock:'.length)}`))]
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
