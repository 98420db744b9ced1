// Processes that do runs, a few at a time. A process is used again while it stayed clean and its plugins are as they were: in a
// sweep of a thousand runs the plugins are loaded a few times, not a thousand.
//
// When is a worker hung? Its watching thread says every second that it is alive. Nothing heard for `silenceMs`: the process is
// dead or stopped, and is killed. Heard, but the main thread has not come back to its event loop for `blockedMs`: it does not
// end, and is killed with the line it was at. A long synchronous computation is neither, as long as it ends before that. A run
// that waits for something that never comes looks like one that waits for a slow service: that is for `budget.wall` to end.
import { availableParallelism } from 'node:os'
import type { ErrorRecord, RunAssignment } from '../../contracts/index.ts'
import { canonicalJson, createSlots, dropSpares, EvsysError, errorRecord, sha256 } from '../../kernel/index.ts'
import { holdRunDir } from './run-holder.ts'
import { type WorkerLimits, workerLimits } from './worker-limits.ts'
import {
  type PluginFiles,
  type RunOptions,
  startWorkerProcess,
  type WorkerEnd,
  type WorkerProcess,
  type WorkerProcessOptions,
} from './worker-process.ts'
import type { WorkerSandbox } from './worker-sandbox.ts'

export interface WorkerPoolOptions extends Partial<WorkerLimits> {
  /** Runs at a time; default: one for each core. */
  readonly size?: number | undefined
  readonly projectDir: string
  /** A worker that has started already: it does the first run. */
  readonly spare?: SpareWorker | undefined
  /** Paths that recipe code must not see; the spare worker was started with the same. */
  readonly hidden?: readonly string[] | undefined
  /** Where workers live; the spare worker was started in the same. */
  readonly sandbox?: WorkerSandbox | undefined
}

/** `lost`: the worker was gone before the run was done, and the segment ends without its last event. */
export type RunOutcome =
  | { readonly outcome: 'finished' | 'interrupted' }
  | { readonly outcome: 'lost'; readonly error: ErrorRecord }

export type WorkerPool = ReturnType<typeof createWorkerPool>

/** Workers that were idle may have died meanwhile: the run is handed to another, a few times. */
const mostHandovers = 3

/** Makes a pool. Its processes start when they are needed and end with it. */
export function createWorkerPool({
  size = availableParallelism(),
  projectDir,
  spare,
  hidden = [],
  sandbox,
  ...bounds
}: WorkerPoolOptions) {
  const limits = workerLimits(bounds)
  const slots = createSlots(size)
  const idle: { key: string; worker: WorkerProcess }[] = []
  const all = new Set<WorkerProcess>()
  const closing = new AbortController()
  const first = spare?.take()
  if (first !== undefined) {
    idle.push({ key: keyOf(first.pluginFiles, {}), worker: first.worker })
    all.add(first.worker)
  }

  const discard = async (worker: WorkerProcess) => {
    await worker.close()
    all.delete(worker)
  }
  const take = async (key: string, pluginFiles: PluginFiles) => {
    for (const each of idle.filter((waiting) => waiting.key === key)) {
      const at = idle.indexOf(each)
      if (at === -1) continue // another run was faster
      idle.splice(at, 1)
      if (await each.worker.isFresh()) return { worker: each.worker, isUsed: true }
      await discard(each.worker)
    }
    // As many processes as slots: one that waits for other plugins makes room.
    const [surplus] = all.size >= size ? idle.splice(0, 1) : []
    if (surplus !== undefined) await discard(surplus.worker)
    const worker = startWorkerProcess({ projectDir, pluginFiles, limits, hidden, sandbox })
    all.add(worker)
    return { worker, isUsed: false }
  }

  const runIn = async (worker: WorkerProcess, assignment: RunAssignment, options: RunOptions): Promise<WorkerEnd> => {
    const leave = await holdRunDir(assignment.run_dir, worker.identity, options.signal)
    try {
      return await worker.run(assignment, options)
    } finally {
      leave()
    }
  }

  const runOnce = async (assignment: RunAssignment, options: RunOptions) => {
    const key = keyOf(assignment.plugin_files, options.secrets ?? {})
    const { worker, isUsed } = await take(key, assignment.plugin_files)
    try {
      const end = await runIn(worker, assignment, options)
      if (end.outcome !== 'lost' && end.reusable) idle.push({ key, worker })
      else await discard(worker)
      return { end, isUsed }
    } catch (error) {
      await discard(worker)
      throw error
    }
  }

  return {
    /** Does a run in a worker; waits while all are busy. */
    async run(assignment: RunAssignment, options: RunOptions): Promise<RunOutcome> {
      const { signal, stopping } = options
      using slot = await slots.take(AbortSignal.any([signal, stopping, closing.signal])).catch(() => undefined)
      signal.throwIfAborted()
      if (closing.signal.aborted) throw closing.signal.reason
      if (slot === undefined || stopping.aborted) return { outcome: 'interrupted' }
      try {
        for (let handover = 0; ; handover++) {
          const { end: ended, isUsed } = await runOnce(assignment, { ...options, signal })
          if (ended.outcome !== 'lost') return { outcome: ended.outcome }
          if (closing.signal.aborted) throw closing.signal.reason
          if (ended.isTaken || !isUsed || handover === mostHandovers) return { outcome: 'lost', error: ended.error }
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!EvsysError.is(error) || error.code === 'INTERRUPTED') throw error
        return { outcome: 'lost', error: errorRecord(error) }
      }
    },

    async [Symbol.asyncDispose]() {
      closing.abort(new EvsysError('INTERRUPTED', 'the worker pool was closed'))
      idle.length = 0
      await Promise.all([...all].map(discard))
    },
  }
}

// A worker that held other secrets would carry them into this run.
function keyOf(plugin_files: PluginFiles, secrets: Readonly<Record<string, string>>): string {
  return sha256(canonicalJson({ plugin_files, secrets }))
}

export type SpareWorker = ReturnType<typeof createSpareWorker>

/**
 * A worker that starts before it is known whether there will be a run: its process is up when the first one is assigned. It has
 * loaded the plugins and nothing else; where there is no run, it is closed.
 */
export function createSpareWorker(startProcess = startWorkerProcess) {
  let worker: WorkerProcess | undefined
  let pluginFiles: PluginFiles | undefined
  let know: (files: PluginFiles) => void = () => {}
  return {
    /** Starts the process, which loads its own code. The second time nothing happens. */
    start(options: Omit<WorkerProcessOptions, 'pluginFiles'>) {
      if (worker !== undefined) return
      const known = new Promise<PluginFiles>((resolve) => {
        know = resolve
      })
      worker = startProcess({ ...options, pluginFiles: known })
    },
    /** Has it load the plugins. */
    load(files: PluginFiles) {
      pluginFiles = files
      know(files)
    },
    /** The worker and the plugins that it has; the one who takes it closes it. */
    take() {
      if (worker === undefined || pluginFiles === undefined) return undefined
      const taken = { worker, pluginFiles }
      worker = undefined
      return taken
    },
    /** Whether it was started and has ended. */
    isGone: () => worker?.isGone() === true,
    /** Ends it: it is not what is needed. */
    async drop() {
      await worker?.close()
      worker = undefined
    },
    async [Symbol.asyncDispose]() {
      dropSpares()
      await worker?.close()
      worker = undefined
    },
  }
}
