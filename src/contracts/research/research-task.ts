// A task of the research loop, ready to run, and what running a candidate of it gives.
import type { Metrics } from '../events.ts'
import type { Level, Mount } from '../execution.ts'
import type { Direction } from '../metadata.ts'
import type { TaskFile } from '../task-file.ts'
import type { AttemptFailure } from './attempt.ts'
import type { KnobSpec } from './idea.ts'

/** Files of a candidate by their path in the task folder. */
export type CandidateFiles = Readonly<Record<string, string>>

export interface ResearchTask {
  readonly name: string
  /** Folder of its `task.yaml`. */
  readonly dir: string
  readonly file: TaskFile
  readonly metric: string
  readonly direction: Direction
  readonly unit?: string
  /** Of search, in the order of use; confirmation draws fresh ones. */
  readonly seeds: readonly number[]
  /** Training time of one experiment. */
  readonly trainSeconds: number
  /** Metrics that must not get worse by more than this share of their value. */
  readonly secondary: readonly { readonly metric: string; readonly direction: Direction; readonly tolerance: number }[]
  readonly baseline: CandidateFiles
  readonly knobs: Readonly<Record<string, KnobSpec>>
  readonly prompt: string
  /** Which of the candidates that the file declares; absent: the first one. */
  readonly variant?: string
  /** Globs of the files that a candidate may change, and of those it may not. */
  readonly scope: readonly string[]
  readonly offLimits: readonly string[]
  /** Absent: nothing of it can be run (a table that is only looked up). */
  readonly program?: TaskProgram
  /** Results of finished trainings, in place of a program. A candidate is one file, `config.json`: an object of axis and value. */
  readonly table?: LookUpTable
  /** Covers scorer, API, data and settings: scores compare only where it is equal. */
  readonly hash: string
}

/** How candidates are started, read and scored. Every path is absolute and lies on this machine. */
export interface TaskProgram {
  /** Which rules candidates are read by; `command`: none but those of files. */
  readonly language: 'node' | 'python' | 'command'
  /** Shell command in the folder of the candidate, the same for both phases. */
  readonly command: string
  /** Files that lie read-only beside the candidate, by their path there: the API module. */
  readonly api: CandidateFiles
  /** Module of the sealed scorer. */
  readonly scorer: string
  /** Folder that candidates see as EVSYS_DATA: the training split alone. */
  readonly trainData: string
  /** Folder that the scorer alone reads: `val/` and `test/` with their labels. */
  readonly sealedData: string
  /** Packages that candidates may import beside the API and the standard library of their language. */
  readonly packages: readonly string[]
  /** Functions of the API that a candidate has to call. */
  readonly requiredCalls: readonly string[]
  /** Further folders that candidates see, read-only: interpreters and packages outside /usr. */
  readonly mounts: readonly Mount[]
  /** Module of the embedded engine, for scorers that run a checkpoint themselves. Absent: the task has no use for it. */
  readonly engine?: string
  /** Shown to candidates. Absent: they compute on the CPU. */
  readonly accelerator?: Accelerator
  readonly env: Readonly<Record<string, string>>
  readonly memoryBytes: number
  /** Processes and threads. */
  readonly processes: number
  readonly diskBytes: number
  /** Time of a candidate beside its training: start and end. */
  readonly startSeconds: number
  /** Time for all answers to the scorer. */
  readonly answerSeconds: number
}

/** A GPU of this machine as candidates see it. */
export interface Accelerator {
  /** As its driver calls it. */
  readonly name: string
  /** Device nodes. */
  readonly devices: readonly Mount[]
  /** Libraries of the driver that lie outside /usr. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
}

/** A header (axes, direction, seeds) and its values: absolute paths. */
export interface LookUpTable {
  readonly header: string
  /** Gzip of float32, little-endian, row-major over the axes, seeds innermost; NaN: not known. */
  readonly values: string
}

/** What the scorer made of one run of a candidate. `peakMemoryBytes`: most that its processes held together, where the machine tells. */
export type RunOutcome =
  | {
      readonly status: 'scored'
      readonly value: number
      readonly secondary: Metrics
      /** What the candidate said of itself; never counts. */
      readonly claimed?: Metrics
      readonly wallS: number
      readonly level: Level | 'in-process'
      /** GPU that it was shown; absent: none. */
      readonly accelerator?: string
      readonly peakMemoryBytes?: number
    }
  | {
      readonly status: 'failed'
      readonly failure: AttemptFailure
      readonly wallS: number
      readonly peakMemoryBytes?: number
    }
  /** Ended early by `watch`. */
  | { readonly status: 'killed'; readonly wallS: number; readonly peakMemoryBytes?: number }

/** A value of the training metric while a candidate trains. */
export interface CurveSample {
  readonly seconds: number
  readonly value: number
}

/** What a dry run says of the memory of a run. Absent: the machine does not tell. */
export interface MemoryEstimate {
  readonly peakMemoryBytes?: number
  readonly memoryLimitBytes: number
}

/** Runs candidates of one task. */
export interface Executor extends AsyncDisposable {
  readonly task: ResearchTask
  /** Everything that is wrong with a candidate, by reading it and by a dry run of a step or two. Empty: it may run. */
  check(
    files: CandidateFiles,
    signal: AbortSignal,
    onEstimate?: (estimate: MemoryEstimate) => void,
  ): Promise<readonly AttemptFailure[]>
  run(
    request: {
      readonly files: CandidateFiles
      readonly seed: number
      /** `test` is the hidden split: looks at it are metered. */
      readonly split: 'val' | 'test'
      readonly trainSeconds: number
      /** Told of every point of the curve; answers whether to go on. */
      watch?(sample: CurveSample): 'go on' | 'kill'
    },
    signal: AbortSignal,
  ): Promise<RunOutcome>
}
