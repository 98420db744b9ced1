// One run of a candidate from its files to a score: train, settle what it left, answer, score, and check that nothing
// that must not change has changed.
import { join } from 'node:path'
import type { CandidateFiles, CurveSample, Level, Metrics, ResearchTask, TaskProgram } from '../../contracts/index.ts'
import { openAnswerPhase } from './answer-phase.ts'
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

export interface RunRequest {
  readonly files: CandidateFiles
  readonly seed: number
  readonly split: 'val' | 'test'
  readonly trainSeconds: number
  watch?: ((sample: CurveSample) => 'continue' | 'kill') | undefined
  /** Called with the most memory that the processes of a phase held together, where the machine reports it. */
  onPeak?: ((bytes: number) => void) | undefined
}

export type Scored = {
  readonly value: number
  readonly secondary: Metrics
  readonly claimed?: Metrics | undefined
  readonly level: Level
  readonly accelerator?: string | undefined
}

/** Rejects with a RunFailure where the candidate is to blame. */
export async function runCandidate(
  opened: Opened,
  request: RunRequest,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<Scored | 'killed'> {
  const { task, program, options, limits, workDir } = opened
  const { files, seed, split, trainSeconds } = request
  const [refused] = asFailures(checkFiles(task, program, files)) // also where it was not checked before
  if (refused !== undefined) throw new RunFailure(refused.class, refused.reason)
  await using folder = await makeRunFolder(workDir, files, program, options.keepFolders === true)
  const code = await sealFiles([folder.code])
  const common = {
    program,
    folder,
    seed,
    trainSeconds,
    limits,
    dry: false,
    level: options.level,
    onPeak: (bytes: number) => request.onPeak?.(bytes),
  }
  const timeoutSeconds = trainSeconds + graceSeconds
  const trained = await trainPhase({ ...common, watch: request.watch, timeoutSeconds }, signal)
  if (trained.killed) return 'killed'
  const left = settleOutFolder(folder.out, limits.diskBytes)
  // Who answers for longer than all may train is training, too.
  const answerSeconds = options.limits?.answerSeconds ?? Math.min(limits.answerSeconds, timeoutSeconds)
  await using answers = openAnswerPhase({ ...common, limits: { ...limits, answerSeconds } }, signal)
  const score = await scoreRun(
    scorerStart(opened, { folder, seed, split }),
    answers,
    { answer: answerSeconds, scorer: limits.scorerSeconds },
    signal,
  )
  await answers[Symbol.asyncDispose]()
  const changed = [...(await code.changed()), ...(await opened.seal.changed())]
  if (changed.length > 0) throw new RunFailure('tamper', `files changed while the candidate ran: ${changed.join(', ')}`)
  if (settleOutFolder(folder.out, limits.diskBytes) !== left)
    throw new RunFailure('tamper', 'what the candidate had left changed while it was scored')
  return { ...score, claimed: trained.claimed, level: trained.level, accelerator: program.accelerator?.name }
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
