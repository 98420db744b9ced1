// One run of a candidate from its files to a score: train, settle what it left, answer, score, and check that nothing
// that must not change has changed.
import { join } from 'node:path'
import type { Executor, ResearchTask, TaskProgram } from '../../contracts/index.ts'
import { AnswerPhase } from './answer-phase.ts'
import type { ExecutorLimits, ExecutorOptions } from './candidate-sandbox.ts'
import { RunFailure } from './run-failure.ts'
import { makeRunFolder, type RunFolder, settleOutFolder } from './run-folder.ts'
import { scoreRun } from './score-run.ts'
import { type SealedFiles, sealFiles } from './sealed-files.ts'
import { trainPhase } from './train-phase.ts'
import { checkFiles } from './validate/check-code.ts'
import { asFailures } from './validate/code-file.ts'

/** A task with what its executor knows of it. */
export interface Opened {
  readonly task: ResearchTask
  readonly program: TaskProgram
  readonly options: ExecutorOptions
  readonly limits: ExecutorLimits
  readonly workDir: string
  /** Scorer, task folder and data. */
  readonly seal: SealedFiles
  readonly scorerHash: string
}

/** `onPeak` is called with the most memory that the processes of a phase held together, where the machine reports it. */
export type RunRequest = Parameters<Executor['run']>[0] & { onPeak?: ((bytes: number) => void) | undefined }

/** Rejects with a RunFailure where the candidate is to blame. */
export async function runCandidate(opened: Opened, request: RunRequest, graceSeconds: number, signal: AbortSignal) {
  const { task, program, options, limits, workDir } = opened
  const { files, seed, split, trainSeconds } = request
  const [refused] = asFailures(checkFiles(task, program, files)) // also where it was not checked before
  if (refused !== undefined) throw new RunFailure(refused.class, refused.reason)
  await using folder = await makeRunFolder(workDir, files, program)
  const code = await sealFiles([folder.code])
  const onPeak = (bytes: number) => request.onPeak?.(bytes)
  const common = { program, folder, seed, trainSeconds, limits, dry: false, level: options.level, onPeak }
  const timeoutSeconds = trainSeconds + graceSeconds
  const trained = await trainPhase({ ...common, watch: request.watch, timeoutSeconds }, signal)
  if (trained.killed) return 'killed' as const
  const left = settleOutFolder(folder.out, limits.diskBytes)
  // Who answers for longer than all may train is training, too.
  const answerSeconds = options.limits?.answerSeconds ?? Math.min(limits.answerSeconds, timeoutSeconds)
  await using answers = new AnswerPhase({ ...common, limits: { ...limits, answerSeconds } }, signal)
  const seconds = { answer: answerSeconds, scorer: limits.scorerSeconds }
  const score = await scoreRun(scorerStart(opened, { folder, seed, split }), answers, seconds, signal)
  await answers[Symbol.asyncDispose]()
  const changed = [...(await code.changed()), ...(await opened.seal.changed())]
  if (changed.length > 0) throw new RunFailure('tamper', `files changed while the candidate ran: ${changed.join(', ')}`)
  if (settleOutFolder(folder.out, limits.diskBytes) !== left)
    throw new RunFailure('tamper', 'what the candidate had left changed while it was scored')
  return {
    ...score,
    claimed: trained.claimed,
    level: trained.level,
    memoryBy: trained.memoryBy,
    accelerator: program.accelerator?.name,
  }
}

/** What the scorer of a run is started with. */
export function scorerStart(
  { task, program, limits, scorerHash }: Opened,
  { folder, seed, split }: Pick<RunRequest, 'seed' | 'split'> & { readonly folder: RunFolder },
) {
  return {
    scorer: program.scorer,
    hash: scorerHash,
    metric: task.metric,
    split,
    data_dir: join(program.sealedData, split),
    out_dir: folder.out,
    checkpoint_bytes: limits.diskBytes,
    seed,
    engine: program.engine,
  }
}
