// Runs candidates of one research task: read and tried first, then trained in a sandbox and scored by the sealed scorer.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttemptFailure, CandidateFiles, Executor, ResearchTask, RunOutcome } from '../../contracts/index.ts'
import { EvsysError, isAlive, messageOf } from '../../kernel/index.ts'
import { moduleFiles } from '../tasks/module-hash.ts'
import { checkCandidate } from './check-candidate.ts'
import { type DryRunEstimate, type ExecutorOptions, limitsFor } from './executor-options.ts'
import { measuredGrace } from './measure-start.ts'
import { removeFolder } from './remove-folder.ts'
import { type Opened, type RunRequest, runCandidate } from './run-candidate.ts'
import { RunFailure } from './run-failure.ts'
import { sealFiles } from './sealed-files.ts'
import { openTableExecutor } from './table-executor.ts'
import { unheldBy } from './unheld-by.ts'

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
      ...{ task, program, options, workDir },
      limits: limitsFor(task, program, options.limits),
      seal: await sealFiles(
        [task.dir, ...(await moduleFiles(program.scorer)), program.trainData, program.sealedData],
        Object.keys(task.baseline).map((file) => join(task.dir, file)), // people go on editing their own candidate
      ),
      scorerHash: createHash('sha256').update(readFileSync(program.scorer)).digest('hex'),
    }
    return executorOf(opened, () => remove(workDir, options))
  } catch (cause) {
    await remove(workDir, options)
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
    const taken = () => ({
      wallS: (performance.now() - begin) / 1000,
      ...(peak === 0 ? {} : { peakMemoryBytes: peak }),
    })
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
      if (!first.some((failure) => failure.class === 'infra')) return first
      return await tried({ ...opened, options }, files, signal)
    },
    async run(request, signal) {
      const first = await attempt(request, signal)
      if (first.status !== 'failed' || first.failure.class !== 'infra') return first
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
  const level = options.level === undefined ? {} : { level: options.level }
  const sandbox = await openSandbox({ stateDir: join(workDir, 'probe'), ...level })
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

async function remove(workDir: string, { keepFolders = false }: ExecutorOptions): Promise<void> {
  if (!keepFolders) await removeFolder(workDir)
}
