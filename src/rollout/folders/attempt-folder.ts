// Attempts at a task folder, as training and benchmarks want them: a trial, and what is left of it in memory. Its files are gone when
// it is over, but for those that are kept. A model that is trained or compared never looks into the folder: tests and solution stay
// with the trial. What infrastructure ended is attempted again, a few times; what the agent failed at is not.
import { copyFile, lstat, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { PluginSpec, RolloutError, Trajectory } from '../../contracts/index.ts'
import { type Clock, EvsysError, type PluginServices, systemClock } from '../../kernel/index.ts'
import { sumUsage } from '../agents/record-turns.ts'
import { isRepeatable } from '../job/job-schedule.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { RunTrialAgent, TrialAgentRecord } from '../trial/run-agent-phase.ts'
import { runTrial } from '../trial/run-trial.ts'
import { TrialConfig } from '../trial/trial-config.ts'
import type { TrialOutcome } from '../trial/trial-scope.ts'
import { folderEnvironment } from './folder-trials.ts'

interface FolderAttempt {
  readonly task: LoadedTask
  /** Name of the agent in the record. */
  readonly agent: string
  readonly runAgent: RunTrialAgent
  /** Absent: the least that holds the task. */
  readonly environment?: PluginSpec | undefined
  readonly services: Omit<PluginServices, 'signal'>
  /** Folder in which the files of the attempt get a separate folder. */
  readonly scratch: string
  /** The instruction as the agent gets it; absent: as it is written. */
  words?: ((instruction: string) => string) | undefined
  /** Sees the record of every attempt before it is removed. `failed`: its number, where another follows. */
  keep?: ((record: string, failed?: number) => Promise<void>) | undefined
  readonly clock?: Pick<Clock, 'sleep'> | undefined
  readonly signal: AbortSignal
}

/** What happened. A reward and an error together: the agent did not get to the end, and what it left was scored. */
export type AttemptedFolder = Omit<Trajectory, 'taskId' | 'sample'>

/** Attempts after the first. */
const MOST_REPEATS = 2
const FIRST_WAIT_MS = 250

/** Rejects when it is cancelled, and when the machine has no room for its files; all else is part of what happened. */
export async function attemptFolder(attempt: FolderAttempt): Promise<AttemptedFolder> {
  const { signal, clock = systemClock } = attempt
  const failed: RolloutError[] = []
  for (;;) {
    const { attempted, isOver } = await attemptOnce(attempt, failed.length)
    const { error } = attempted
    if (isOver || error === undefined) {
      return failed.length === 0 ? attempted : { ...attempted, failedAttempts: failed }
    }
    await clock.sleep(FIRST_WAIT_MS * 4 ** failed.length, signal)
    failed.push(error)
  }
}

async function attemptOnce(
  attempt: FolderAttempt,
  failedBefore: number,
): Promise<{ attempted: AttemptedFolder; isOver: boolean }> {
  const { task, services, scratch, signal, agent, environment = { kind: 'auto', params: {} } } = attempt
  await mkdir(scratch, { recursive: true })
  const dir = await mkdtemp(join(scratch, 'trial-'))
  const records: TrialAgentRecord[] = []
  try {
    const trialId = crypto.randomUUID()
    const record = join(dir, 'record')
    const outcome = await runTrial({
      task,
      trialId,
      dir: record,
      hostEnv: process.env,
      signal,
      config: TrialConfig.parse({ task: { path: task.path }, trial_name: trialId, agent: { name: agent } }),
      openEnvironment: folderEnvironment(environment, services),
      agentInfo: { name: agent, version: '1', model_info: null },
      runAgent: recording(attempt, records),
    })
    signal.throwIfAborted()
    const isOver = failedBefore >= MOST_REPEATS || outcome.reward !== undefined || !isRepeatable(outcome.result)
    await attempt.keep?.(record, isOver ? undefined : failedBefore + 1)
    return { attempted: attempted(outcome, records), isOver }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function recording({ runAgent, words }: FolderAttempt, records: TrialAgentRecord[]): RunTrialAgent {
  return async (asked, signal) => {
    const { task } = asked
    const instruction = words?.(task.instruction) ?? task.instruction
    // Where the folder lies is none of the agent's business either.
    const { task_path: _, ...metadata } = task.metadata
    const record = await runAgent({ ...asked, task: { ...task, instruction, metadata } }, signal)
    records.push(record)
    return record
  }
}

function attempted({ result, reward, turns }: TrialOutcome, records: readonly TrialAgentRecord[]): AttemptedFolder {
  const output = records.at(-1)?.output
  const truncated = records.findLast((record) => record.truncated !== undefined)?.truncated
  const rewards = result.verifier_result?.rewards ?? undefined
  const error = result.evsys?.error ?? (reward === undefined ? noReward(Object.keys(rewards ?? {})) : undefined)
  return {
    turns,
    usage: sumUsage(records.map(({ usage }) => usage)),
    output,
    truncated,
    reward,
    rewards: error?.infra === true ? undefined : rewards,
    error,
  }
}

function noReward(keys: readonly string[]): NonNullable<AttemptedFolder['error']> {
  const message =
    keys.length === 0 ? 'nothing was scored' : `several rewards (${keys.join(', ')}) and none is called "reward"`
  const fix = 'let the tests write one number, or an object with the key "reward".'
  return { ...new EvsysError('REWARD_INVALID', message, { fix }).toRecord(), infra: true }
}

// What a run keeps of a trial of a benchmark: its result, and what the agent said, did and left in its logs. What the tests printed is
// left out: recipe code can read the files of its run, and that would reveal the tests.

/** Files of the agent that are longer are left out, and so are all once this much is kept of a trial. */
const FILE_BYTES = 8 * 1024 * 1024
const TRIAL_BYTES = 32 * 1024 * 1024

/** `root`: a folder that exists; `place`: of the trial, below it. An attempt before the last goes to attempts/<failed>. */
export async function keepTrial(record: string, root: string, place: string, failed?: number): Promise<void> {
  const target = join(root, place, ...(failed === undefined ? [] : ['attempts', String(failed)]))
  await mkdir(target, { recursive: true })
  // Recipe code owns the folder of its run: a link that it left there leads nowhere.
  const real = relative(await realpath(root), await realpath(target))
  if (real !== relative(root, target)) {
    throw new EvsysError('FILE_FAILED', `${target} is a link that leads elsewhere: nothing is written there`)
  }
  let bytes = 0
  const visit = async (path: string): Promise<void> => {
    for (const entry of await readdir(join(record, path), { withFileTypes: true })) {
      const name = join(path, entry.name)
      if (entry.isDirectory() && isKept(`${name}${sep}`)) await visit(name)
      if (!entry.isFile() || !isKept(name)) continue
      const { size } = await lstat(join(record, name))
      if (size > FILE_BYTES || bytes + size > TRIAL_BYTES) continue
      bytes += size
      await mkdir(join(target, path), { recursive: true })
      await copyFile(join(record, name), join(target, name))
    }
  }
  await visit('')
}

function isKept(name: string): boolean {
  const [first, , third] = name.split(sep)
  if (first === 'result.json' || first === 'agent') return true
  return first === 'steps' && (third === undefined || third === '' || third === 'agent')
}
