// What a session needs from outside, what it returns, and its plugins.
import type {
  Brief,
  CandidateFiles,
  CandidateIdea,
  Context,
  Executor,
  Idea,
  KeepRule,
  KnobSpec,
  Knobs,
  Proposal,
  Proposer,
  Race,
  RaceStep,
  ResearchBudget,
  ResearchEntry,
  ResearchState,
  SearchRequest,
  SearchState,
  SeedPath,
  SessionSettings,
  Strategy,
} from '../../contracts/index.ts'
import { type Clock, equipPlugin, keyedRandom, type PluginServices } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import type { Materialised } from '../propose/materialise.ts'

export interface ResearchOptions {
  readonly store: OpenStore
  readonly executor: Executor
  /** Of a new session; one that is resumed has its own. */
  readonly settings: SessionSettings
  /** Resumes a session of the task: the one that `session` names, else the newest that fits. */
  readonly resume?: boolean | undefined
  readonly session?: string | undefined
  /** Caps in place of those that the session was begun with; only where it is resumed. */
  readonly budget?: ResearchBudget | undefined
  readonly services: Pick<PluginServices, 'registry' | 'log' | 'secret'>
  readonly tools: CandidateTools
  /** The brief without the files of its base. */
  writeBrief(state: SearchState, request: SearchRequest, extras: BriefExtras): Brief
  /** Waits for cores of the machine. */
  leaseCores?: ((signal: AbortSignal) => Promise<AsyncDisposable>) | undefined
  readonly provenance?: Readonly<Record<string, unknown>> | undefined
  readonly clock?: Clock | undefined
  /** First abort: what is running is stopped, and the session can be resumed. */
  readonly signal: AbortSignal
  onBegin?:
    | ((session: { readonly experimentId: string; readonly state: ResearchState; readonly isResumed: boolean }) => void)
    | undefined
  onEntry?: ((entry: ResearchEntry, state: ResearchState) => void) | undefined
}

/** What is done with code, by whatever proposer. */
export interface CandidateTools {
  materialise(
    idea: Pick<Idea, 'change'>,
    base: CandidateFiles,
    declared: Readonly<Record<string, KnobSpec>>,
  ): Materialised
  knobsOf(files: CandidateFiles, declared: Readonly<Record<string, KnobSpec>>): Knobs
  fingerprint(files: CandidateFiles, knobs: Knobs): string
}

/** What a brief holds besides the state of the search. */
interface BriefExtras {
  readonly files: Brief['files']
  readonly sigma: number
  readonly backlog: readonly string[]
  /** Gain over the baseline on the test split, as far as the search may know it. */
  readonly confirmedGain?: number | undefined
  readonly costs: Readonly<Record<string, { readonly runs: number; readonly usd: number }>>
  readonly repair?: NonNullable<Brief['repair']> | undefined
}

export interface ResearchResult {
  readonly experimentId: string
  readonly state: ResearchState
  readonly status: 'ended' | 'interrupted'
}

/** The plugins of one session, each with a context whose randomness is keyed by what it is asked for. */
export interface SessionPlugins {
  readonly strategy: Strategy
  readonly keepRule: KeepRule
  readonly proposer: Proposer
  /** Calls of the proposer cost money. */
  readonly asksModel: boolean
  /** Results count in the order in which work was begun, not in that of their arrival. */
  readonly inOrder: boolean
  next(state: SearchState, path: SeedPath): SearchRequest
  rank(
    candidates: readonly CandidateIdea[],
    state: SearchState,
    request: SearchRequest,
    path: SeedPath,
  ): readonly number[]
  decide(race: Race, path: SeedPath): RaceStep
  propose(brief: Brief, path: SeedPath, signal: AbortSignal): Promise<Proposal>
}

export function equipSession(
  settings: Pick<SessionSettings, 'strategy' | 'keep_rule' | 'proposer' | 'seed'>,
  services: Omit<PluginServices, 'random'>,
): SessionPlugins {
  const keyed = { ...services, random: (...path: SeedPath) => keyedRandom(settings.seed, ...path) }
  const strategy = equipPlugin('strategy', settings.strategy, keyed)
  const keepRule = equipPlugin('keep_rule', settings.keep_rule, keyed)
  const proposer = equipPlugin('proposer', settings.proposer, keyed)
  const contextFor = (context: Context<unknown>, purpose: string, path: SeedPath): Context<unknown> => ({
    ...context,
    random: (...rest) => keyedRandom(settings.seed, purpose, ...path, ...rest),
  })
  return {
    strategy: strategy.plugin,
    keepRule: keepRule.plugin,
    proposer: proposer.plugin,
    asksModel: proposer.plugin.needs?.network === true || (proposer.plugin.needs?.secrets?.length ?? 0) > 0,
    inOrder: proposer.plugin.isRecorded === true,
    next: (state, path) => strategy.plugin.next(state, contextFor(strategy.context, 'strategy', path)),
    rank(candidates, state, request, path) {
      if (strategy.plugin.rank === undefined) return candidates.map((_, place) => place)
      return strategy.plugin.rank(candidates, state, { ...contextFor(strategy.context, 'rank', path), request })
    },
    decide: (race, path) => keepRule.plugin.decide(race, contextFor(keepRule.context, 'keep', path)),
    propose: (brief, path, signal) =>
      proposer.plugin.propose(brief, { ...contextFor(proposer.context, 'propose', path), signal }),
  }
}
