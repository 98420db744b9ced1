// What a report of a research session is made from: data alone, so that equal sessions give equal reports.
import type { Attempt, CandidateFiles, Direction, Metrics } from '../contracts/index.ts'

export interface ResearchReportInput {
  readonly task: {
    readonly name: string
    readonly metric: string
    readonly direction: Direction
    readonly unit?: string
    /** Training time of one experiment. */
    readonly trainSeconds?: number
    /** Of scorer, API, data and settings. */
    readonly hash?: string
    /** Folder of the task, as commands name it. */
    readonly dir?: string
    /** Metrics that must not get worse by more than this share of their value. */
    readonly secondary?: readonly {
      readonly metric: string
      readonly direction: Direction
      readonly tolerance: number
    }[]
  }
  readonly session: {
    readonly id: string
    readonly startedAt?: string
    readonly endedAt?: string
    /** Where it stands, and why it ended. */
    readonly standing?: string
    /** Proposer, strategy, keep rule, model: name and value. */
    readonly settings?: readonly (readonly [name: string, value: string])[]
    /** One line that runs it again. */
    readonly reproduce?: string
    /** Scores were said by whoever wrote a log; nothing here measured them. */
    readonly claimedOnly?: boolean
  }
  /** In the order of their numbers; 0 is the baseline. */
  readonly attempts: readonly ReportedAttempt[]
  /** Attempt that the session ends with; absent: the last one that was kept. */
  readonly champion?: string
  /** Attempts that were the best of their time, first to last: each was measured against the one before. Absent: all that were kept. */
  readonly succession?: readonly string[]
  /** Absent: pooled from the scores. */
  readonly noise?: ReportedNoise
  readonly confirmations?: readonly ReportedConfirmation[]
  /** Looks at the hidden split, and how many were allowed. */
  readonly looks?: { readonly used: number; readonly allowed?: number }
  /** Spent by the session and by no attempt: refreshed seeds, confirmation, control runs. */
  readonly overhead?: { readonly costUsd?: number; readonly wallS?: number }
  readonly notes?: readonly { readonly at?: string; readonly author?: string; readonly text: string }[]
}

export interface ReportedAttempt {
  readonly attempt: Attempt
  /** All files in scope. */
  readonly files?: CandidateFiles
  /** Unified diff against its base; absent: made from the files of both. */
  readonly diff?: string
  /** Proposing and running it. Absent: unknown, which is not zero. */
  readonly costUsd?: number
  readonly wallS?: number
  /** What leaving it out of the final stack showed. */
  readonly ablation?: { readonly effect?: number; readonly dropped: boolean }
  /** More columns of an imported log, or metrics beside the score. */
  readonly extra?: Metrics
}

export interface ReportedNoise {
  /** Standard deviation of one candidate over seeds. */
  readonly seedSd?: number
  /** Standard deviation of one paired difference. */
  readonly sigma?: number
  /** Of runs of equal seed. */
  readonly jitterSd?: number
}

/** A look at a kept candidate on fresh seeds. */
export interface ReportedConfirmation {
  readonly attempt: string
  /** Against the baseline; positive is better. Absent: only the decision was made, and no gain reported. */
  readonly gain?: number
  readonly interval?: readonly [number, number]
  readonly confidence?: number
  /** On which the gain was measured. */
  readonly seeds?: number
  /** Chance of such a result by luck. */
  readonly p?: number
  readonly split: 'val' | 'test'
  readonly passed: boolean
}
