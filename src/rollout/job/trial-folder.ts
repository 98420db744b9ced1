// The folder of a planned trial over the life of its job. Nothing in it is ever deleted: an attempt that failed or was cut off moves to
// attempts/<n>/, and each move can be cut off itself and resumes where it stopped.
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Clock, createRedactor, systemCode, writeFileAtomic } from '../../kernel/index.ts'
import { removeTree } from '../trial/trial-environment.ts'
import { rolloutError } from '../trial/trial-error.ts'
import { exceptionInfo, resultDraft, trialSecrets } from '../trial/trial-record.ts'
import { type AgentInfo, TrialResult } from '../trial/trial-result.ts'
import { stateFolder } from '../trial/trial-scope.ts'
import type { PlannedTrial } from './plan-trials.ts'

interface FoundTrial {
  /** Absent: no attempt has come to its end. */
  readonly result?: TrialResult | undefined
  /** Something is there that an attempt left. */
  readonly isBegun: boolean
  /** Attempts that were put aside after a failure; those that were cut off are not counted. */
  readonly failedBefore: number
}

export async function findTrial(dir: string): Promise<FoundTrial> {
  await finishMove(dir)
  const names = await namesIn(dir)
  const result = names.includes('result.json') ? await readResult(dir) : undefined
  const attempts = await namesIn(join(dir, 'attempts'))
  let failedBefore = 0
  for (const attempt of attempts) {
    const earlier = await readResult(join(dir, 'attempts', attempt))
    if (earlier !== undefined && earlier.exception_info?.exception_type !== 'CancelledError') failedBefore += 1
  }
  return { result, isBegun: names.some((name) => name !== 'attempts'), failedBefore }
}

/** Puts what is there aside as attempts/<n>/ and leaves room for the next attempt. Returns the folder it went to. */
export async function keepAttempt(dir: string): Promise<string | undefined> {
  await removeTree(stateFolder(dir)) // files of an environment, which no one can enter any more
  if (!(await namesIn(dir)).some((name) => name !== 'attempts')) return undefined
  await rename(dir, movingFolder(dir))
  return finishMove(dir)
}

function movingFolder(dir: string): string {
  return join(dirname(dir), `.${basename(dir)}.moving`)
}

// The whole folder was renamed away; its own earlier attempts come back first, then it becomes the newest of them.
async function finishMove(dir: string): Promise<string | undefined> {
  const moving = movingFolder(dir)
  if ((await namesIn(moving)).length === 0) return undefined
  const attempts = join(dir, 'attempts')
  await mkdir(dir, { recursive: true })
  if ((await namesIn(moving)).includes('attempts')) await rename(join(moving, 'attempts'), attempts)
  await mkdir(attempts, { recursive: true })
  const last = Math.max(0, ...(await namesIn(attempts)).map(Number).filter(Number.isInteger))
  const kept = join(attempts, String(last + 1))
  await rename(moving, kept)
  return kept
}

async function readResult(dir: string): Promise<TrialResult | undefined> {
  try {
    return TrialResult.parse(JSON.parse(await readFile(join(dir, 'result.json'), 'utf8')))
  } catch {
    return undefined // it is written as a whole or not at all; anything else is not ours, and the trial is run
  }
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return []
    throw cause
  })
}

// A trial that could not even be made: it is a result like any other, so that it is counted and can be repeated.
export async function creationFailure(
  { config, jobTask }: PlannedTrial,
  {
    error,
    trialId,
    dir,
    agentInfo,
    clock,
  }: { error: unknown; trialId: string; dir: string; agentInfo: AgentInfo; clock: Clock },
): Promise<{ result: TrialResult }> {
  const now = new Date(clock.now()).toISOString()
  const redact = createRedactor(trialSecrets([config.agent.env, config.environment.env, config.verifier.env], {}))
  const subject = {
    task_name: jobTask.name,
    task_id: { path: jobTask.path },
    source: jobTask.source ?? null,
    task_checksum: jobTask.task?.digest.replace(/^sha256:/, '') ?? '',
  }
  const exception_info = exceptionInfo(error, now)
  const result: TrialResult = redact({
    ...resultDraft(subject, { config, trialId, dir, agentInfo }, now),
    exception_info,
    finished_at: now,
    evsys: {
      status: exception_info.exception_type === 'CancelledError' ? 'cancelled' : 'failed',
      error: rolloutError(error),
      warnings: [],
    },
  })
  await mkdir(dir, { recursive: true })
  await writeFileAtomic(join(dir, 'result.json'), `${JSON.stringify(result, null, 2)}\n`)
  return { result }
}
