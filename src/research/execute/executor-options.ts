// How candidates are held: what the caller may set, and what holds where it does not.
import type { Level, ResearchTask, TaskProgram } from '../../contracts/index.ts'

export interface ExecutorOptions {
  /** Folder for the files of running candidates; absent: one below the temporary folder of the system. */
  readonly workDir?: string
  /** Absent: the strongest level that works here. `process` holds nothing: for candidates that are trusted. */
  readonly level?: Level
  readonly limits?: Partial<ExecutorLimits>
  /** Keeps the folders of candidates that have ended. */
  readonly keepFolders?: boolean
  /** Told what the sandbox of this machine does not hold. */
  onNotice?(text: string): void
  /** Told what a dry run took. */
  onDryRun?(estimate: DryRunEstimate): void
}

/** What one candidate may take. */
export interface ExecutorLimits {
  /**
   * Beside the training time: start of the interpreter, reading of data, saving. Past it a run has failed by `timeout`. Absent: what
   * the baseline was measured to need, several times, and at most what the task allows.
   */
  readonly graceSeconds: number
  /** All answers of one run together. */
  readonly answerSeconds: number
  /** The scorer's own time, candidates apart. */
  readonly scorerSeconds: number
  readonly dryRunSeconds: number
  readonly memoryBytes: number
  readonly processes: number
  /** All that a candidate leaves in EVSYS_OUT and elsewhere. */
  readonly diskBytes: number
  /** What it may print. */
  readonly outputBytes: number
  /** One answer. */
  readonly answerBytes: number
}

export interface DryRunEstimate {
  readonly wallS: number
  /** Most memory that its processes held together; absent where the machine does not tell. */
  readonly peakMemoryBytes?: number
  /** The same of each phase; answering is absent where the scorer asks nothing, or training was still busy. */
  readonly trainingBytes?: number
  readonly answeringBytes?: number
  readonly memoryLimitBytes: number
}

const MB = 2 ** 20

export function limitsFor(
  task: ResearchTask,
  program: TaskProgram,
  given: Partial<ExecutorLimits> = {},
): ExecutorLimits {
  return {
    graceSeconds: program.startSeconds,
    answerSeconds: program.answerSeconds,
    scorerSeconds: 120 + 2 * task.trainSeconds,
    dryRunSeconds: 2,
    memoryBytes: program.memoryBytes,
    processes: program.processes,
    diskBytes: program.diskBytes,
    outputBytes: 32 * MB,
    answerBytes: 32 * MB,
    ...given,
  }
}
