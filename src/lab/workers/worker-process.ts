// One run worker, as the controller has it: a process with code of the project that does runs, one at a time. However it ends, that
// becomes the typed failure of the run it was at. What the worker says of an agent is its words and its usage; it cannot say a reward.
import { extname } from 'node:path'
import {
  type AddressVariable,
  type AgentOrder,
  type AgentRecord,
  type ErrorRecord,
  type FileStamp,
  type OpenEnvironment,
  type OpenInferenceClient,
  type Prediction,
  type RunAssignment,
  type Scored,
  type WorkerStart,
  workerProtocol,
} from '../../contracts/index.ts'
import {
  areUnchanged,
  type Child,
  createRateBound,
  createRedactor,
  EvsysError,
  type ForkSpec,
  guardedProcess,
  type Handlers,
  identify,
  messageOf,
  onAbort,
  openChild,
  type PluginReference,
  type ProcessIdentity,
} from '../../kernel/index.ts'
import { readPredictions } from './segment-reader.ts'
import { policyClient, type ServedEnvironment, serveEnvironment } from './serve-environment.ts'
import { createPrintedLines, lostRun, type WorkerLimits, watchGrowth } from './worker-limits.ts'

/** Answers of a run that want a score. The file holds the same predictions, as JSON lines. */
export interface ScoreQuestion {
  readonly benchmark: string
  /** Absent: after training. */
  readonly step?: number | undefined
  readonly predictions: readonly Prediction[]
  readonly predictionsFile: string
}

/** Task folders of a benchmark that want to be attempted: by agents here, with a policy that the worker answers for. */
export interface TrialQuestion {
  readonly benchmark: string
  /** Absent: after training. */
  readonly step?: number | undefined
  /** In place of that of the benchmark; empty: none. */
  readonly systemPrompt?: string | undefined
  policy(session: string): OpenInferenceClient
  /** Runs an agent of the project, in the worker. */
  readonly runAgent: RunAgent
  /** Aborted: no one waits for the score any more. */
  readonly signal: AbortSignal
}

export interface RunOptions {
  /** The segment holds every item before `nextItem`. */
  onWritten(nextItem: number): void
  /** A rejection fails the run. */
  onScore(question: ScoreQuestion): Promise<Scored>
  /** Absent: a run that has task folders to be attempted fails. */
  onTrials?: ((question: TrialQuestion) => Promise<{ scored: Scored; predictions: readonly Prediction[] }>) | undefined
  /** Aborted: the run saves and leaves. */
  readonly stopping: AbortSignal
  /** Aborted: the worker is killed and the call rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** Those that the plugins of the run declare; no other reaches the worker. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
  /** Of services, by the variables that name them. */
  readonly addresses?: Readonly<Partial<Record<AddressVariable, string>>> | undefined
  /** What the worker's plugins print. */
  onPrinted?: ((text: string) => void) | undefined
}

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
  /** What it starts before it loads anything. */
  readonly early?: ForkSpec | undefined
}

/** An agent of the project, and the environment that it acts in. */
interface AgentTask {
  readonly order: AgentOrder
  readonly environment: OpenEnvironment
  /** A folder that code of the project cannot see. */
  readonly scratch: string
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

export type WorkerProcess = Pick<RunWorker, 'identity' | 'isFresh' | 'run' | 'close'>

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
  readonly #environments = new Map<number, ServedEnvironment>()
  #agents = 0
  #stamps: readonly FileStamp[] | undefined
  #current: RunUnderWay | undefined
  #failing: ErrorRecord | undefined
  #isLate = false

  constructor({ projectDir, pluginFiles, limits, hidden = [], early }: WorkerProcessOptions) {
    this.#limits = limits
    const printed = createRateBound({ burst: limits.printedMb * bytesPerMb, perSecond: bytesPerMb / 4 })
    const notices = createRateBound({ burst: 2000, perSecond: 200 })
    this.#child = openChild({
      protocol: workerProtocol,
      start: guardedProcess({
        script: new URL(`../../runner/worker/worker-child${extname(import.meta.url)}`, import.meta.url),
        spares: early === undefined ? [] : [early],
        cwd: projectDir,
        hidden,
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
      deathOf: () => new EvsysError('INTERRUPTED', 'the worker that holds the policy is gone'),
    })
    this.identity = identify(this.#child.pid)
    this.#load(pluginFiles, (files) => ({
      project_dir: projectDir,
      plugin_files: files,
      heap_mb: limits.heapMb,
      blocked_ms: limits.blockedMs,
    }))
  }

  /** Whether it lives and its plugins are still what it loaded. */
  async isFresh(): Promise<boolean> {
    const isUnchanged = async () => this.#stamps === undefined || (await areUnchanged(this.#stamps))
    return this.#child.end === undefined && (await isUnchanged()) && this.#child.end === undefined
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
    try {
      const { silenceMs } = this.#limits
      const limits = { silenceMs, firstMs: startMs }
      const running = this.#child.call(
        'run',
        { assignment, secrets, addresses },
        { signal, onAbort: 'kill', ...limits },
      )
      quiet = onAbort(stopping, () => this.#child.notify('stop', messageOf(stopping.reason)))
      const { outcome, reusable } = await running
      return { outcome, reusable: reusable && this.#child.end === undefined }
    } catch (error) {
      if (signal.aborted || this.#child.end === undefined) throw error // of a callback of ours, in the second case
      return { outcome: 'lost', error: this.#lost(run), isTaken: run.isTaken }
    } finally {
      quiet()
      lines.close()
      this.#current = undefined
    }
  }

  /** Kills it and waits until it is gone. */
  async close(): Promise<void> {
    await this.#child.close()
  }

  #load(pluginFiles: PluginFiles | Promise<PluginFiles>, startOf: (files: PluginFiles) => WorkerStart): void {
    // Its timer holds nothing up: a run that waits for it has another.
    const late = setTimeout(() => {
      this.#isLate = true
      this.#child.stop('silent')
    }, loadMs).unref()
    const load = async () => {
      const { files } = await this.#child.call('load', startOf(await pluginFiles))
      this.#stamps = files
    }
    load()
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
      async score({ benchmark, step, predictions_file: predictionsFile }) {
        const { assignment, options } = now()
        const place = { runDir: assignment.run_dir, signal: options.signal }
        const predictions = await readPredictions(predictionsFile, place)
        return await options.onScore({ benchmark, step, predictions, predictionsFile })
      },
      attempt: async ({ evaluation, benchmark, step, system_prompt: systemPrompt }, signal) => {
        const { options } = now()
        if (options.onTrials === undefined) throw new EvsysError('INTERNAL', 'trials are not run here')
        const { scored, predictions } = await options.onTrials({
          benchmark,
          step,
          systemPrompt,
          policy: (session) =>
            policyClient(session, (question, own) =>
              this.#child.call('answer', { evaluation, ...question }, { signal: own }),
            ),
          runAgent: (task, own) => this.#runAgent(evaluation, task, own),
          signal: AbortSignal.any([options.signal, signal]),
        })
        return { scored, answers: [...predictions] }
      },
      environment: async ({ agent, asked }, signal) => {
        const environment = this.#environments.get(agent)
        if (environment === undefined)
          throw new EvsysError('AGENT_FAILED', 'the phase of the agent is over: its environment is closed to it')
        return await environment.answer(asked, signal)
      },
    }
  }

  async #runAgent(evaluation: number, task: AgentTask, signal: AbortSignal): Promise<AgentRecord> {
    signal.throwIfAborted()
    this.#agents += 1
    const agent = this.#agents
    await using environment = serveEnvironment(task.environment, task.scratch)
    this.#environments.set(agent, environment)
    try {
      return await this.#child.call('act', { evaluation, agent, order: task.order }, { signal, onAbort: 'wait' })
    } finally {
      this.#environments.delete(agent)
    }
  }

  #lost(run: RunUnderWay): ErrorRecord {
    const { end } = this.#child
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
