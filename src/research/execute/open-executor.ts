// Runs candidates of one research task: read and tried first, then trained in a sandbox and scored by the sealed scorer.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttemptFailure, CandidateFiles, Executor, ResearchTask, RunOutcome } from '../../contracts/index.ts'
import { EvsysError, isAlive, messageOf } from '../../kernel/index.ts'
import type { LocalSandbox } from '../../sandbox/index.ts'
import { moduleFiles } from '../tasks/data/module-hash.ts'
import { openTableExecutor } from '../tasks/look-up-table.ts'
import { type DryRunEstimate, type ExecutorOptions, limitsFor } from './candidate-sandbox.ts'
import { checkCandidate, dryRunPhase } from './check-candidate.ts'
import { type Opened, type RunRequest, runCandidate } from './run-candidate.ts'
import { RunFailure } from './run-failure.ts'
import { makeRunFolder, removeFolder } from './run-folder.ts'
import { sealFiles } from './sealed-files.ts'
import { trainPhase } from './train-phase.ts'

const prefix = 'evsys-research-'

/** Throws where no sandbox works here, or where the task cannot be run. */
export async function openExecutor(task: ResearchTask, options: ExecutorOptions = {}): Promise<Executor> {
  const { program, table } = task
  if (table !== undefined) return await openTableExecutor(task, table)
  if (program === undefined)
    throw new EvsysError('CONFIG_INVALID', `the task "${task.name}" has no command that trains a candidate`, {
      fix: 'give it `run`, `scorer` and data, or look its table up.',
    })
  const base = options.workDir ?? tmpdir()
  await mkdir(base, { recursive: true })
  await sweep(base)
  const workDir = await mkdtemp(join(base, `${prefix}${process.pid}-`))
  try {
    await needSandbox(workDir, options)
    const opened: Opened = {
      task,
      program,
      options,
      workDir,
      limits: limitsFor(program, options.limits),
      seal: await sealFiles(
        [task.dir, ...(await moduleFiles(program.scorer)), program.trainData, program.sealedData],
        Object.keys(task.baseline).map((file) => join(task.dir, file)), // people may edit their candidate
      ),
      scorerHash: createHash('sha256').update(readFileSync(program.scorer)).digest('hex'),
    }
    return executorOf(opened, () => removeFolder(workDir))
  } catch (cause) {
    await removeFolder(workDir)
    throw cause
  }
}

function executorOf(opened: Opened, close: () => Promise<void>): Executor {
  const grace = measuredGrace(opened)
  const attempt = async (request: RunRequest, signal: AbortSignal): Promise<RunOutcome> => {
    const graceSeconds = await grace(request.trainSeconds, signal)
    const begin = performance.now()
    let peak = 0
    const onPeak = (bytes: number) => {
      peak = Math.max(peak, bytes)
    }
    const taken = () => ({ wallS: (performance.now() - begin) / 1000, peakMemoryBytes: peak || undefined })
    try {
      await needUnchanged(opened)
      const scored = await runCandidate(opened, { ...request, onPeak }, graceSeconds, signal)
      if (scored === 'killed') return { status: 'killed', ...taken() }
      return { status: 'scored', ...scored, ...taken() }
    } catch (cause) {
      signal.throwIfAborted()
      return { status: 'failed', failure: asFailure(cause), ...taken() }
    }
  }
  return {
    task: opened.task,
    async check(files, signal, onEstimate) {
      const options = {
        ...opened.options,
        onDryRun(estimate: DryRunEstimate) {
          opened.options.onDryRun?.(estimate)
          onEstimate?.(estimate)
        },
      }
      const first = await tried({ ...opened, options }, files, signal)
      if (!first.some((failure) => failure.class === 'infra' && failure.again !== false)) return first
      return await tried({ ...opened, options }, files, signal)
    },
    async run(request, signal) {
      const first = await attempt(request, signal)
      if (first.status !== 'failed' || first.failure.class !== 'infra' || first.failure.again === false) return first
      return await attempt(request, signal) // what is not the candidate's fault may be gone by now
    },
    [Symbol.asyncDispose]: close,
  }
}

async function tried(opened: Opened, files: CandidateFiles, signal: AbortSignal): Promise<readonly AttemptFailure[]> {
  try {
    return await checkCandidate(opened, files, signal)
  } catch (cause) {
    signal.throwIfAborted()
    return [asFailure(cause)]
  }
}

async function needUnchanged({ seal, task }: Opened): Promise<void> {
  const changed = await seal.changed()
  if (changed.length > 0)
    throw new RunFailure('infra', `the task "${task.name}" changed since it was opened: ${changed.join(', ')}`)
}

function asFailure(cause: unknown): AttemptFailure {
  if (cause instanceof RunFailure) return cause.failure
  return new RunFailure('infra', messageOf(cause)).failure
}

async function needSandbox(workDir: string, options: ExecutorOptions): Promise<void> {
  const { openSandbox } = await import('../../sandbox/index.ts')
  const sandbox = await openSandbox({ stateDir: join(workDir, 'probe'), level: options.level })
  await sandbox[Symbol.asyncDispose]()
  for (const text of unheldBy(sandbox)) options.onNotice?.(text)
}

// Folders of executors that were killed. A day old, since processes of another machine or container may share the place.
async function sweep(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN
    if (!Number.isSafeInteger(pid) || isAlive({ pid, start: '' })) continue
    const stats = await stat(join(base, name)).catch(() => undefined)
    if (stats !== undefined && Date.now() - stats.mtimeMs > 24 * 3600_000)
      await removeFolder(join(base, name)).catch(() => undefined) // it may be another's
  }
}

/** Below this a busy machine would decide. */
const leastSeconds = 5
/** A candidate may need this many times what the baseline needs: it compiles, it has a larger model to save. */
const factor = 4

/**
 * Seconds that candidates need beside their training, for runs of `trainSeconds`: measured once, by a dry run of the baseline. What the
 * task allows is for the slowest machine; a candidate that trains through all of it would have more time than the others.
 */
function measuredGrace(opened: Opened): (trainSeconds: number, signal: AbortSignal) => Promise<number> {
  const { options, limits } = opened
  const fixed = options.limits?.graceSeconds
  let measured: Promise<number> | undefined
  return async (trainSeconds, signal) => {
    if (fixed !== undefined || limits.graceSeconds <= leastSeconds) return limits.graceSeconds
    measured ??= dryRunSeconds(opened, signal).catch(() => {
      measured = undefined // cancelled, or broken here and now: what the task allows holds for this run
      return Number.POSITIVE_INFINITY
    })
    const start = Math.max(leastSeconds, factor * (await measured))
    return Math.min(limits.graceSeconds, start + trainSeconds / 4)
  }
}

async function dryRunSeconds(opened: Opened, signal: AbortSignal): Promise<number> {
  await using folder = await makeRunFolder(opened.workDir, opened.task.baseline, opened.program)
  const begin = performance.now()
  await trainPhase(dryRunPhase(opened, folder), signal)
  return (performance.now() - begin) / 1000
}

const notices = {
  bubblewrap: undefined,
  chroot:
    'candidates run in a sandbox of the level chroot, which has no filter of system calls: a fault of the kernel is easier to reach. Install bubblewrap.',
  container:
    'candidates run in containers: one that is running outlives a killed evsys until its command ends. Install bubblewrap.',
  process:
    'candidates run as plain processes, without a sandbox: they can read the labels of val and test, change files, use the network and outlive their run. Their scores prove nothing unless they are trusted.',
} as const

const unlimited =
  'no control group can be made here: memory is limited for each process, and measured for all together every 15 ms: they can go past it between two measurements.'

/** What candidates can do here that the strongest sandbox withholds, in sentences for the one who starts them. */
export function unheldBy({ level, limits }: Pick<LocalSandbox, 'level' | 'limits'>): string[] {
  const notice = notices[level]
  const watched = level !== 'process' && limits.memory === 'rlimit and watch'
  return [...(notice === undefined ? [] : [notice]), ...(watched ? [unlimited] : [])]
}
