// The folder of one trial while it runs: the log, the timings, the first failure; at the end result.json, after which nothing changes.
import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Level } from '../../contracts/index.ts'
import { type Clock, messageOf, type Redact, writeFileAtomic } from '../../kernel/index.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { TrialConfig } from './trial-config.ts'
import { exceptionName, rolloutError, rolloutErrorNamed } from './trial-error.ts'
import type { AgentInfo, ExceptionInfo, Timing, TrialResult } from './trial-result.ts'

interface TrialRecordOptions {
  readonly task: LoadedTask
  readonly config: TrialConfig
  readonly trialId: string
  readonly dir: string
  readonly agentInfo: AgentInfo
  readonly clock: Clock
  readonly redact: Redact
  readonly isHiding: boolean
}

export type TrialRecord = Awaited<ReturnType<typeof openTrialRecord>>

export async function openTrialRecord(options: TrialRecordOptions) {
  const { dir, config, clock, redact, isHiding } = options
  const now = () => new Date(clock.now()).toISOString()
  const result = resultDraft(subjectOf(options), { ...options, config: redact(config) }, now())
  const facts = { status: 'completed' as 'completed' | 'failed' | 'cancelled', warnings: [] as string[] }
  let failure: { error: unknown } | undefined
  let level: Level | undefined
  await mkdir(dir, { recursive: true })
  await writeJson(join(dir, 'config.json'), redact(config))
  await writeJson(join(dir, 'lock.json'), {
    schema_version: 2,
    task: { name: options.task.name, path: options.task.path, digest: options.task.digest },
    agent: options.agentInfo,
  })
  const log = (text: string) => appendFile(join(dir, 'trial.log'), `${now()} ${redact(text)}\n`)
  const exceptionOf = (error: unknown): ExceptionInfo => redact(exceptionInfo(error, now()))

  return {
    /** Filled while the trial runs. */
    result,
    dir,
    log,
    /** A failure that is kept elsewhere, as result.json has it. */
    exceptionOf,
    async warn(text: string) {
      facts.warnings.push(redact(text))
      await log(`warning: ${text}`)
    },
    /** Does the work of a phase and keeps, in a slot of a result, when it began and ended. */
    async timed<K extends string, T>(slots: Record<K, Timing | null>, slot: K, work: () => Promise<T>): Promise<T> {
      const timing: Timing = { started_at: now(), finished_at: null }
      slots[slot] = timing
      try {
        return await work()
      } finally {
        timing.finished_at = now()
      }
    },
    /** Keeps a failure of the trial; the first one counts. */
    async fail(error: unknown) {
      await log(`${exceptionName(error)}: ${messageOf(error)}`)
      if (failure !== undefined) return
      failure = { error }
      facts.status = exceptionName(error) === 'CancelledError' ? 'cancelled' : 'failed'
      result.exception_info = exceptionOf(error)
      const { exception_traceback } = result.exception_info
      await writeFileAtomic(join(dir, 'exception.txt'), `${exception_traceback}\n`, { sync: false })
    },
    setLevel(open: Level) {
      level = open
    },
    /** Takes secrets out of every file and writes result.json. */
    async finish(): Promise<TrialResult> {
      result.finished_at = now()
      const failed = failure === undefined ? stepFailure(result) : redact(rolloutError(failure.error))
      const status = failed === undefined || facts.status === 'cancelled' ? facts.status : 'failed'
      result.evsys = { ...result.evsys, ...facts, status, error: failed, level }
      const removed = await redactFolder(dir, redact, isHiding)
      if (removed.length > 0)
        result.evsys.warnings.push(`too large to be searched for secrets, so not kept: ${removed.join(', ')}`)
      await writeJson(join(dir, 'result.json'), redact(result), true)
      return result
    },
  }
}

// The failure of a step stays with its step in Harbor's format; the trial as a whole has failed with it all the same.
function stepFailure({ step_results }: TrialResult) {
  const failed = step_results?.find(({ exception_info }) => exception_info !== null)?.exception_info
  if (failed === undefined || failed === null) return undefined
  return rolloutErrorNamed(failed.exception_type, failed.exception_message)
}

/** A result before anything has happened; what follows the task stands in `subject`. */
export function resultDraft(
  subject: Pick<TrialResult, 'task_name' | 'task_id' | 'source' | 'task_checksum'>,
  { config, trialId, dir, agentInfo }: Pick<TrialRecordOptions, 'config' | 'trialId' | 'dir' | 'agentInfo'>,
  startedAt: string,
): TrialResult {
  const { task_name, task_id, source, task_checksum } = subject
  return {
    id: trialId,
    task_name,
    trial_name: config.trial_name,
    trial_uri: pathToFileURL(dir).href,
    task_id,
    source,
    task_checksum,
    config,
    agent_info: agentInfo,
    agent_result: null,
    verifier_result: null,
    verifier_environment_mode: null,
    exception_info: null,
    started_at: startedAt,
    finished_at: null,
    environment_setup: null,
    agent_setup: null,
    agent_execution: null,
    verifier: null,
    step_results: null,
  }
}

/** A failure as result.json has it. */
export function exceptionInfo(error: unknown, at: string): ExceptionInfo {
  return {
    exception_type: exceptionName(error),
    exception_message: messageOf(error),
    exception_traceback: (error instanceof Error && error.stack) || messageOf(error),
    occurred_at: at,
  }
}

function subjectOf({ task, config }: TrialRecordOptions) {
  const { git_url, git_commit_id = null, source = null } = config.task
  return {
    task_name: task.name,
    task_id: git_url === undefined ? { path: task.path } : { git_url, git_commit_id, path: task.path },
    source,
    task_checksum: task.digest.replace(/^sha256:/, ''),
  }
}

async function writeJson(path: string, value: unknown, sync = false): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, { sync })
}

// What must not stand in any file of a trial: values of variables whose name says that they are secret, and those their templates name.
const secretName = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|AUTH/i
const template = /^\$\{([A-Za-z_]\w*)(?::-([\s\S]*))?\}$/
/** Below this a value cannot be distinguished from ordinary text. */
const SHORTEST = 4
/** A larger file is not searched, so it is not kept where there is something to hide. */
const LARGEST_BYTES = 64 * 1024 * 1024

type Table = Readonly<Record<string, string>>

/** Secrets by name out of tables of variables. */
export function trialSecrets(
  tables: readonly Table[],
  hostEnv: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const table of tables) {
    for (const [name, written] of Object.entries(table)) {
      const [, variable, fallback] = template.exec(written) ?? []
      if (!secretName.test(name) && !secretName.test(variable ?? '')) continue
      const value = variable === undefined ? written : (hostEnv[variable] ?? fallback ?? '')
      if (value.trim().length >= SHORTEST) found[name] = value
    }
  }
  return found
}

/** Takes secrets out of every text file below a folder. Names of files that had to go are returned. */
export async function redactFolder(dir: string, redact: Redact, isHiding: boolean): Promise<string[]> {
  const removed: string[] = []
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) removed.push(...(await redactFolder(path, redact, isHiding)))
    else if (entry.isFile() && !(await redactFile(path, redact, isHiding))) removed.push(path)
  }
  return removed
}

async function redactFile(path: string, redact: Redact, isHiding: boolean): Promise<boolean> {
  const { size } = await stat(path)
  if (size > LARGEST_BYTES) {
    if (!isHiding) return true
    await rm(path)
    return false
  }
  const bytes = await readFile(path)
  const clean = redact(new Uint8Array(bytes))
  if (Buffer.compare(bytes, clean) !== 0) await writeFileAtomic(path, clean, { sync: false })
  return true
}
