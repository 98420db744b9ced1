// A research session at one moment, as the fold over its journal gives it. Plain data: it survives JSON.
import type { Metrics } from './quantity.ts'
import type { Attempt, AttemptFailure, Idea, SeedScore } from './research-attempt.ts'
import type {
  EndReason,
  FileChanges,
  PlannedTestEvaluation,
  ResearchEntryOf,
  RunPurpose,
  SessionSettings,
} from './research-journal.ts'

/** An attempt, and what a strategy need not know of it. */
export interface ResearchAttempt extends Attempt {
  readonly origin: ResearchEntryOf<'attempt.begun'>['origin']
  readonly worker: number
  readonly idea?: Idea | undefined
  readonly call?: string | undefined
  /** Against its first parent; the baseline's are in the session. */
  readonly files: FileChanges
  readonly repairs: number
  readonly checked: 'no' | 'passed' | 'failed'
  /** What the last check found. */
  readonly failures: readonly AttemptFailure[]
  /** Most memory that its dry run held. */
  readonly dryRunMemoryBytes?: number | undefined
  /** Gain by shared seed when it was judged; positive is better. */
  readonly pairs: readonly number[]
  /** On the hidden split, from confirmations. */
  readonly hidden: readonly SeedScore[]
  readonly runs: readonly RecordedRunOf[]
  readonly confirmation?: ResearchEntryOf<'confirmation'> | undefined
  readonly ablation?: ResearchEntryOf<'ablation'> | undefined
  /** Who decided, where a person did. */
  readonly author?: string | undefined
  readonly vetoed?: string | undefined
  readonly begunAt: string
  readonly endedAt?: string | undefined
  /** What its calls cost, as far as it is known. */
  readonly costUsd: number
  readonly wallS: number
}

/** One run of an attempt; without an outcome it is still going on, or was when its controller died. */
export interface RecordedRunOf {
  readonly run: string
  readonly seed: number
  readonly split: 'val' | 'test'
  readonly purpose: RunPurpose
  readonly status: 'running' | 'scored' | 'failed' | 'killed'
  readonly value?: number | undefined
  /** Outcomes by item. */
  readonly items?: readonly number[] | 'fresh' | undefined
  readonly failure?: AttemptFailure | undefined
  /** Why it was ended early, and where its curve would have ended. */
  readonly ended?: string | undefined
  readonly predicted?: NonNullable<ResearchEntryOf<'run.finished'>['watch']>['predicted']
  readonly wallS?: number | undefined
  /** Most that its processes held together. */
  readonly peakMemoryBytes?: number | undefined
  /** What the candidate said of itself; never counts. */
  readonly claimed?: Metrics | undefined
  /** Sandbox that it ran in, and the GPU that it was shown. */
  readonly level?: string | undefined
  /** Who kept its limit of memory. */
  readonly memoryBy?: string | undefined
  readonly accelerator?: string | undefined
  /** Equal run of the record that it was taken from: nothing was trained. */
  readonly reusedFrom?: string | undefined
  readonly curve?: readonly { readonly seconds: number; readonly value: number }[] | undefined
  readonly watch?: ResearchEntryOf<'run.finished'>['watch'] | undefined
}

/** A question to a proposer. `lost`: it was sent, its controller died, and its answer and cost are unknown. */
export interface ResearchCall {
  readonly call: string
  readonly worker: number
  readonly purpose: 'propose' | 'repair'
  readonly proposer: string
  readonly status: 'open' | 'answered' | 'failed'
  readonly sendings: number
  readonly lost: number
  readonly intent: ResearchEntryOf<'call.intended'>
  readonly ideas: readonly Idea[]
  /** An answer is used once: by the attempt it becomes, or by turning all of it down. */
  readonly used: boolean
  readonly costUsd?: number | undefined
  readonly tokens: number
}

export interface ResearchSpend {
  /** Attempts besides the baseline and ablations. */
  readonly experiments: number
  readonly runs: number
  readonly calls: number
  readonly lostCalls: number
  readonly tokens: number
  /** With what lost and unpriced calls are charged. */
  readonly usd: number
  /** The part of `usd` that is charged by forecast. */
  readonly assumedUsd: number
  /** Time that a controller worked on the session. */
  readonly wallS: number
  /** Time that candidates ran. */
  readonly runS: number
}

/** Live figures that show whether the search does what it should. */
export interface ResearchGauges {
  readonly duplicates: number
  readonly turnedDown: number
  readonly repairs: number
  readonly keeps: number
  readonly sinceKeep: number
  readonly killed: number
  readonly audited: number
  readonly failures: Readonly<Record<string, number>>
}

/** Work that was begun and of which nothing was heard yet. */
export type BegunWork =
  | { readonly kind: 'call'; readonly call: string }
  | { readonly kind: 'check'; readonly attempt: string }
  | { readonly kind: 'run'; readonly run: string; readonly attempt: string }

export interface ResearchState {
  readonly settings?: SessionSettings | undefined
  /** Files of the baseline. */
  readonly files: Readonly<Record<string, string>>
  readonly status: 'new' | 'running' | 'interrupted' | 'ended'
  readonly attempts: readonly ResearchAttempt[]
  readonly baseline?: string | undefined
  readonly incumbent?: string | undefined
  /** Those that were the incumbent, first to last. */
  readonly kept: readonly string[]
  /** Seeds of races, in the order of use. */
  readonly bank: readonly number[]
  /** Every seed that was ever used, so that a fresh one is fresh. */
  readonly usedSeeds: readonly number[]
  /** Pairs of values of the same candidate and the same seed. */
  readonly jitter: readonly (readonly [number, number])[]
  /** Moving average of kept gains, in sigmas; absent before the first verdict. */
  readonly typicalGain?: number | undefined
  readonly calls: readonly ResearchCall[]
  /** Calls before the last end, or the last word of a person: that they brought nothing counts no more. */
  readonly forgivenCalls: number
  /** What is in progress, or was when the controller died, in the order in which it was begun. */
  readonly begun: readonly BegunWork[]
  /** Test evaluations so far. */
  readonly looks: number
  /** The one that is going on. */
  readonly look?: PlannedTestEvaluation | undefined
  /** A person asked for a test evaluation, and there was none since. */
  readonly lookRequested: boolean
  readonly confirmations: readonly ResearchEntryOf<'confirmation'>[]
  readonly controls: readonly ResearchEntryOf<'control.finished'>[]
  readonly ablations: readonly ResearchEntryOf<'ablation'>[]
  /** A control run deviated, and the incumbent has not been measured again since. */
  readonly drifted: boolean
  readonly spend: ResearchSpend
  readonly gauges: ResearchGauges
  /** What people want tried and is not yet; `idea`: ready to run. */
  readonly backlog: readonly { readonly author: string; readonly text: string; readonly idea?: Idea | undefined }[]
  readonly turnedDown: readonly ResearchEntryOf<'ideas.rejected'>['ideas'][number][]
  readonly banned: readonly string[]
  readonly pinned?: string | undefined
  readonly paused: boolean
  /** Vetoes and overrides that the controller has not acted on yet. */
  readonly unanswered: readonly ResearchEntryOf<'steered'>[]
  readonly steered: readonly ResearchEntryOf<'steered'>[]
  readonly notices: readonly string[]
  readonly end?: { readonly reason: EndReason; readonly text: string } | undefined
  readonly startedAt?: string | undefined
  readonly lastAt?: string | undefined
}

export const initialResearchState: ResearchState = Object.freeze({
  files: {},
  status: 'new',
  attempts: [],
  kept: [],
  bank: [],
  usedSeeds: [],
  jitter: [],
  calls: [],
  forgivenCalls: 0,
  begun: [],
  looks: 0,
  lookRequested: false,
  confirmations: [],
  controls: [],
  ablations: [],
  drifted: false,
  spend: {
    experiments: 0,
    runs: 0,
    calls: 0,
    lostCalls: 0,
    tokens: 0,
    usd: 0,
    assumedUsd: 0,
    wallS: 0,
    runS: 0,
  },
  gauges: { duplicates: 0, turnedDown: 0, repairs: 0, keeps: 0, sinceKeep: 0, killed: 0, audited: 0, failures: {} },
  backlog: [],
  turnedDown: [],
  banned: [],
  paused: false,
  steered: [],
  unanswered: [],
  notices: [],
})
