// A task of the research loop, ready to run, and what running a candidate of it gives.
import type { Metrics } from '../events.ts'
import type { Level } from '../execution.ts'
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
  /** Covers scorer, API, data and settings: scores compare only where it is equal. */
  readonly hash: string
}

/** What the scorer made of one run of a candidate. */
export type RunOutcome =
  | {
      readonly status: 'scored'
      readonly value: number
      readonly secondary: Metrics
      /** What the candidate said of itself; never counts. */
      readonly claimed?: Metrics
      readonly wallS: number
      readonly level: Level | 'in-process'
    }
  | { readonly status: 'failed'; readonly failure: AttemptFailure; readonly wallS: number }
  /** Ended early by `watch`. */
  | { readonly status: 'killed'; readonly wallS: number }

/** A value of the training metric while a candidate trains. */
export interface CurveSample {
  readonly seconds: number
  readonly value: number
}

/** Runs candidates of one task. */
export interface Executor extends AsyncDisposable {
  readonly task: ResearchTask
  /** Everything that is wrong with a candidate, by reading it and by a dry run of a step or two. Empty: it may run. */
  check(files: CandidateFiles, signal: AbortSignal): Promise<readonly AttemptFailure[]>
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
