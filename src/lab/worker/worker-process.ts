// One worker seen from the controller: a guarded process that is handed runs, one at a time. Every way it can end becomes the
// typed failure of the run it was at.
import { extname } from 'node:path'
import type { EarlyStart } from '../../backends/index.ts'
import {
  type ErrorRecord,
  type FileStamp,
  FromWorker,
  type RunAssignment,
  type ToWorker,
  type WorkerStart,
} from '../../contracts/index.ts'
import {
  createRedactor,
  EvsysError,
  identify,
  messageOf,
  onAbort,
  type ProcessIdentity,
  problemsOf,
  startGuardedProcess,
  toRecord,
} from '../../kernel/index.ts'
import { createLedAgents } from './led-agents.ts'
import { type Failing, type Flood, lostRun, type WorkerLimits } from './lost-run.ts'
import { areUnchanged } from './plugin-stamps.ts'
import { createPolicyQuestions } from './policy-questions.ts'
import { createPrintedLines } from './printed-lines.ts'
import { createRateBound } from './rate-bound.ts'
import { readPredictions } from './read-predictions.ts'
import { watchGrowth } from './segment-growth.ts'
import { createSilenceTimer } from './silence-timer.ts'
import type { RunOptions } from './worker-pool.ts'

/** How a run ended in this worker. `isTaken`: false when none of its code ran, so that another worker can do it. */
export type WorkerEnd =
  | { readonly outcome: 'finished' | 'interrupted'; readonly reusable: boolean }
  | { readonly outcome: 'lost'; readonly error: ErrorRecord; readonly isTaken: boolean }

export interface WorkerProcess {
  readonly identity: ProcessIdentity
  /** Whether it lives and its plugins are still what it loaded. */
  isFresh(): Promise<boolean>
  run(assignment: RunAssignment, options: RunOptions): Promise<WorkerEnd>
  /** Kills it and waits until it is gone. */
  close(): Promise<void>
}

type PluginFiles = RunAssignment['plugin_files']

export interface WorkerProcessOptions {
  readonly projectDir: string
  /** A promise: the process starts now and loads the plugins when they are known. */
  readonly pluginFiles: PluginFiles | Promise<PluginFiles>
  readonly limits: WorkerLimits
  /** Paths that recipe code must not see. */
  readonly hidden?: readonly string[]
  /** What it starts before it loads anything. */
  readonly early?: EarlyStart
}

type Handler = (message: Exclude<FromWorker, { type: 'ready' | 'failing' }>) => void

const bytesPerMb = 1024 * 1024
/** First sign of life of a process, on a machine that may be busy with other things. */
const startMs = 3 * 60_000
/** The catalog has loaded the same plugins before, within seconds. */
const loadMs = 10 * 60_000
/** Questions that wait for a score; a run asks one after another. */
const mostQuestions = 16

/** Starts a worker. It loads its plugins while it waits for the first run. */
export function startWorkerProcess({
  projectDir,
  pluginFiles,
  limits,
  hidden = [],
  early,
}: WorkerProcessOptions): WorkerProcess {
  let stamps: readonly FileStamp[] | undefined
  let handle: Handler = () => {}
  let onPrinted: (text: string) => void = () => {}
  let failing: Failing | undefined
  let flood: Flood | undefined
  let hasEnded = false
  let hasSpoken = false
  let isLate = false
  let onAlive = () => {}
  const silence = createSilenceTimer(limits.silenceMs, () => worker.stop('silent'))
  const printed = createRateBound({ burst: limits.printedMb * bytesPerMb, perSecond: bytesPerMb / 4 })
  const messages = createRateBound({ burst: 2000, perSecond: 200 })
  const stopFlood = (kind: Flood) => {
    flood ??= kind
    worker.stop('flood')
  }

  const start = (files: PluginFiles): WorkerStart => ({
    project_dir: projectDir,
    plugin_files: files,
    heap_mb: limits.heapMb,
    blocked_ms: limits.blockedMs,
  })
  // Its timer holds nobody up: whoever waits for a run has one of his own.
  const loading = setTimeout(() => {
    isLate = true
    worker.stop('silent')
  }, loadMs).unref()
  const worker = startGuardedProcess({
    script: new URL(`./worker-child${extname(import.meta.url)}`, import.meta.url),
    args: early === undefined ? [] : [early.module, ...early.args],
    start: pluginFiles instanceof Promise ? pluginFiles.then(start) : start(pluginFiles),
    cwd: projectDir,
    hidden,
    heapMb: limits.heapMb,
    memoryMb: limits.memoryMb,
    messageMb: 1,
    onAlive() {
      hasSpoken = true
      silence.heard()
      onAlive()
    },
    onPrinted(text) {
      onPrinted(text)
      if (printed.take(text.length)) return true
      flood ??= 'printed'
      return false
    },
    onMessage(message) {
      silence.heard()
      const told = FromWorker.parse(message)
      // Calls of agents are bounded by how many are under way: each waits for its reply.
      if (told.type !== 'call' && !messages.take(1)) {
        stopFlood('messages')
        return
      }
      if (told.type === 'ready') {
        stamps = told.files
        clearTimeout(loading)
      } else if (told.type === 'failing') failing = told.error
      else handle(told)
    },
  })
  let onEnded = () => {}
  const ended = worker.ended.then((end) => {
    hasEnded = true
    clearTimeout(loading)
    onEnded()
    return end
  })

  const converse = (assignment: RunAssignment, options: RunOptions): Promise<Said> =>
    new Promise((resolve, reject) => {
      let isTaken = false
      let questions = 0
      const policies = createPolicyQuestions(tell)
      const led = createLedAgents(tell)
      const gone = new AbortController()
      const answer = async (question: Extract<FromWorker, { type: 'score' }>) => {
        const { request, benchmark, step, predictions_file } = question
        try {
          const place = { runDir: assignment.run_dir, signal: options.signal }
          const predictions = await readPredictions(predictions_file, place)
          const at = step === undefined ? {} : { step }
          const scored = await options.onScore({ benchmark, ...at, predictions, predictionsFile: predictions_file })
          tell({ type: 'scored', request, scored })
        } catch (error) {
          tell({ type: 'unscored', request, error: recordOf(error) })
        } finally {
          questions -= 1
        }
      }
      const attempt = async ({ request, benchmark, step, system_prompt }: Extract<FromWorker, { type: 'attempt' }>) => {
        try {
          if (options.onTrials === undefined) throw new EvsysError('INTERNAL', 'nobody runs trials here')
          const { scored, predictions } = await options.onTrials({
            benchmark,
            ...(step === undefined ? {} : { step }),
            ...(system_prompt === undefined ? {} : { systemPrompt: system_prompt }),
            policy: (session) => policies.client(request, session),
            lead: led.client(request),
            signal: AbortSignal.any([options.signal, gone.signal]),
          })
          tell({ type: 'scored', request, scored, answers: [...predictions] })
        } catch (error) {
          tell({ type: 'unscored', request, error: recordOf(error) })
        } finally {
          questions -= 1
        }
      }
      const take: Handler = (message) => {
        if (message.type === 'taken') isTaken = true
        else if (message.type === 'answer' || message.type === 'no_answer') policies.take(message)
        else if (message.type === 'call' || message.type === 'led') {
          if (!led.take(message)) stopFlood('messages')
        } else if (message.type === 'written') options.onWritten(message.next_item)
        else if (message.type === 'done') resolve({ ...message, isTaken })
        else {
          questions += 1
          if (questions > mostQuestions) stopFlood('messages')
          else (message.type === 'score' ? answer(message) : attempt(message)).catch(reject)
        }
      }
      handle = (message) => {
        try {
          take(message)
        } catch (error) {
          reject(error) // of a callback of ours: nothing the worker is to blame for
        }
      }
      onEnded = () => {
        const reason = new EvsysError('INTERRUPTED', 'the worker that holds the policy is gone')
        policies.close(reason)
        led.close(reason)
        gone.abort(reason)
        resolve({ type: 'ended', isTaken })
      }
      if (hasEnded) onEnded()
    })
  const tell = (message: ToWorker) => worker.send(message)

  return {
    identity: identify(worker.pid),
    isFresh: async () => !hasEnded && (stamps === undefined || (await areUnchanged(stamps))) && !hasEnded,

    async run(assignment, options) {
      const { signal, stopping, secrets = {} } = options
      const lines = createPrintedLines(createRedactor(secrets), (text) => options.onPrinted?.(text))
      onPrinted = lines.add
      onAlive = watchGrowth(assignment.segment_file, limits.reportedMb, () => stopFlood('reported'))
      silence.start(hasSpoken ? limits.silenceMs : Math.max(limits.silenceMs, startMs))
      const quiet = [onAbort(signal, () => worker.stop('closed'))]
      try {
        const talk = converse(assignment, options)
        tell({ type: 'assign', assignment, secrets })
        quiet.push(onAbort(stopping, () => tell({ type: 'stop', reason: messageOf(stopping.reason) })))
        const said = await talk
        if (said.type === 'done') return { outcome: said.outcome, reusable: said.reusable && !hasEnded }
        const end = await ended
        signal.throwIfAborted()
        const error =
          end.stopped === 'closed'
            ? new EvsysError('INTERRUPTED', 'the worker was closed').toRecord()
            : lostRun(end, { limits, failing, flood, secrets, isLate })
        return { outcome: 'lost', error, isTaken: said.isTaken }
      } finally {
        lines.close()
        silence.stop()
        for (const each of quiet) each()
        handle = () => {}
        onPrinted = () => {}
        onAlive = () => {}
        onEnded = () => {}
      }
    },

    async close() {
      worker.stop('closed')
      await ended
    },
  }
}

function recordOf(error: unknown): ErrorRecord {
  const [problem] = problemsOf(error)
  return toRecord(problem ?? { code: 'INTERNAL', message: messageOf(error) })
}

type Said = (Extract<FromWorker, { type: 'done' }> & { isTaken: boolean }) | { type: 'ended'; isTaken: boolean }
