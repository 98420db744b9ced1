// What a report of a research session is made from: data alone, so that equal sessions give equal reports.
import type {
  Attempt,
  CandidateFiles,
  CurveSample,
  Direction,
  Metrics,
  SessionSettings,
} from '../../contracts/index.ts'
import type { SessionClaim, TradeOffs } from '../../research/index.ts'

export interface ResearchReportInput {
  readonly task: {
    readonly name: string
    readonly metric: string
    readonly direction: Direction
    readonly unit?: string | undefined
    /** What the metric can be; absent ends are open or not known. */
    readonly bounds?: { readonly least?: number | undefined; readonly most?: number | undefined } | undefined
    /** What an optimiser may turn. */
    readonly knobs?: SessionSettings['space'] | undefined
    /** Training time of one experiment. */
    readonly trainSeconds?: number | undefined
    /** Of scorer, API, data and settings. */
    readonly hash?: string | undefined
    /** Folder of the task, as commands name it. */
    readonly dir?: string | undefined
    /** Metrics that must not get worse by more than this share of their value. */
    readonly secondary?: SessionSettings['secondary'] | undefined
  }
  readonly session: {
    readonly id: string
    readonly startedAt?: string | undefined
    readonly endedAt?: string | undefined
    /** Its status, and why it ended. */
    readonly status?: string | undefined
    /** Proposer, strategy, keep rule, model: name and value. */
    readonly settings?: readonly (readonly [name: string, value: string])[] | undefined
    /** One line that runs it again. */
    readonly reproduce?: string | undefined
    /** Scores are claims of an imported log; nothing here measured them. */
    readonly claimedOnly?: boolean | undefined
  }
  /** In the order of their numbers; 0 is the baseline. */
  readonly attempts: readonly ReportedAttempt[]
  /** Attempt that the session ends with; absent: the last one that was kept. */
  readonly champion?: string | undefined
  /** Attempts that were the best of their time, first to last: each was measured against the one before. Absent: all that were kept. */
  readonly succession?: readonly string[] | undefined
  /** Absent: pooled from the scores. */
  readonly noise?: ReportedNoise | undefined
  readonly confirmations?: readonly ReportedConfirmation[] | undefined
  /** What is claimed of the best against the baseline on the hidden split. */
  readonly claim?: SessionClaim | undefined
  /** Candidates by several metrics at once. */
  readonly tradeOffs?: TradeOffs | undefined
  /** Metered evaluations on the test split, and how many were allowed. */
  readonly testEvaluations?: { readonly used: number; readonly allowed?: number | undefined } | undefined
  /** Spent by the session and by no attempt: refreshed seeds, confirmation, control runs. */
  readonly overhead?: { readonly costUsd?: number | undefined; readonly wallS?: number | undefined } | undefined
  readonly notes?:
    | readonly { readonly at?: string | undefined; readonly author?: string | undefined; readonly text: string }[]
    | undefined
}

export interface ReportedAttempt {
  readonly attempt: Attempt
  /** All files in scope. */
  readonly files?: CandidateFiles | undefined
  /** Unified diff against its base; absent: made from the files of both. */
  readonly diff?: string | undefined
  /** Proposing and running it. Absent: unknown, which is not zero. */
  readonly costUsd?: number | undefined
  readonly wallS?: number | undefined
  /** What leaving it out of the final stack showed. */
  readonly ablation?: { readonly effect?: number | undefined; readonly dropped: boolean } | undefined
  /** Runs on validation with a score or a curve, seed by seed. */
  readonly runs?: readonly ReportedRun[] | undefined
  /** More columns of an imported log, or metrics beside the score. */
  readonly extra?: Metrics | undefined
}

export interface ReportedRun {
  readonly seed: number
  readonly value?: number | undefined
  /** Training loss over seconds. */
  readonly curve?: readonly CurveSample[] | undefined
  readonly wallS?: number | undefined
  readonly peakMemoryBytes?: number | undefined
  /** Why it has no score. */
  readonly failure?: string | undefined
}

export interface ReportedNoise {
  /** Standard deviation of one candidate over seeds. */
  readonly seedSd?: number | undefined
  /** Standard deviation of one paired difference. */
  readonly sigma?: number | undefined
  /** Of runs of equal seed. */
  readonly jitterSd?: number | undefined
}

/** An evaluation of a kept candidate on fresh seeds. */
export interface ReportedConfirmation {
  readonly attempt: string
  /** Against the baseline; positive is better. Absent: only the decision was made, and no gain reported. */
  readonly gain?: number | undefined
  readonly interval?: readonly [number, number] | undefined
  readonly confidence?: number | undefined
  /** On which the gain was measured. */
  readonly seeds?: number | undefined
  /** Items that the interval is over; `fresh`: each seed has new ones. Absent: over seeds alone. */
  readonly items?: number | 'fresh' | undefined
  /** Chance of such a result by luck. */
  readonly p?: number | undefined
  readonly split: 'val' | 'test'
  /** The interval lies above zero, and counts the items. */
  readonly passed: boolean
  /** The interval lies above zero; absent: as `passed`. */
  readonly better?: boolean | undefined
  /** The gain, corrected for having passed its test. */
  readonly shrunken?: number | undefined
}
