// What a session needs from outside, and what it gives back.
import type {
  Brief,
  Executor,
  ResearchBudget,
  ResearchEntry,
  ResearchState,
  SearchRequest,
  SearchState,
  SessionSettings,
} from '../../contracts/index.ts'
import type { Clock, PluginServices } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import type { CandidateTools } from './step.ts'

export interface ResearchOptions {
  readonly store: OpenStore
  readonly executor: Executor
  /** Of a new session; one that is gone on with has its own. */
  readonly settings: SessionSettings
  /** Goes on with a session of the task: the one that `session` names, else the newest that fits. */
  readonly resume?: boolean
  readonly session?: string
  /** Caps in place of those that the session was begun with; only where it is gone on with. */
  readonly budget?: ResearchBudget
  readonly services: Pick<PluginServices, 'registry' | 'log' | 'secret'>
  readonly tools: CandidateTools
  /** The brief without the files of its base. */
  writeBrief(state: SearchState, request: SearchRequest, extras: BriefExtras): Brief
  /** Waits for cores of the machine. */
  leaseCores?(signal: AbortSignal): Promise<AsyncDisposable>
  readonly provenance?: Readonly<Record<string, unknown>>
  readonly clock?: Clock
  /** First abort: what is running is stopped, and the session can be gone on with. */
  readonly signal: AbortSignal
  onBegin?(session: { readonly experimentId: string; readonly state: ResearchState; readonly isResumed: boolean }): void
  onEntry?(entry: ResearchEntry, state: ResearchState): void
}

/** What a brief holds besides the state of the search. */
export interface BriefExtras {
  readonly files: Brief['files']
  readonly sigma: number
  readonly backlog: readonly string[]
  /** Gain over the baseline on the hidden split, as far as the search may know it. */
  readonly confirmedGain?: number
  readonly costs: Readonly<Record<string, { readonly runs: number; readonly usd: number }>>
  readonly repair?: NonNullable<Brief['repair']>
}

export interface ResearchResult {
  readonly experimentId: string
  readonly state: ResearchState
  readonly status: 'ended' | 'interrupted'
}
