// What a session needs from outside, what it returns, and its plugins.
import type {
  Brief,
  CandidateFiles,
  CandidateIdea,
  Context,
  Executor,
  Idea,
  Knobs,
  Race,
  ResearchBudget,
  ResearchEntry,
  ResearchState,
  SearchRequest,
  SearchState,
  SeedPath,
  SessionSettings,
} from '../../contracts/index.ts'
import { type Clock, equipPlugin, keyedRandom, type PluginServices } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import type { WrittenWinner } from '../experiments/write-winner.ts'
import type { BriefExtras } from '../propose/brief/brief-sections.ts'

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
  /** Equal for candidates that are equal but for layout and names. */
  fingerprint(files: CandidateFiles, knobs: Knobs): string
  writeBrief(state: SearchState, request: SearchRequest, extras: BriefExtras): Brief
  /** Waits for cores of the machine. */
  leaseCores?: ((signal: AbortSignal) => Promise<AsyncDisposable>) | undefined
  /** Ideas that a new session runs before any other, and where they come from. */
  readonly first?: readonly { readonly from: string; readonly idea: Idea }[] | undefined
  readonly provenance?: Readonly<Record<string, unknown>> | undefined
  readonly clock?: Clock | undefined
  /** First abort: what is running is stopped, and the session can be resumed. */
  readonly signal: AbortSignal
  onBegin?: ((session: BegunSession) => void) | undefined
  /** What belongs to the end, before the record has it: a controller that dies meanwhile does it again. */
  onEnd?: ((session: Pick<BegunSession, 'experimentId' | 'state'>) => Promise<void>) | undefined
  onEntry?: ((entry: ResearchEntry, state: ResearchState) => void) | undefined
}

export interface BegunSession {
  readonly experimentId: string
  readonly state: ResearchState
  readonly isResumed: boolean
}

export interface ResearchResult {
  readonly experimentId: string
  readonly state: ResearchState
  readonly status: 'ended' | 'interrupted'
  /** Of a session over an experiment file that kept something. */
  readonly winner?: WrittenWinner | undefined
}

export type SessionPlugins = ReturnType<typeof equipSession>

/** The plugins of one session, each with a context whose randomness is keyed by what it is asked for. */
export function equipSession(settings: SessionSettings, services: Omit<PluginServices, 'random'>) {
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
    /** Calls of the proposer cost money. */
    asksModel: proposer.plugin.needs?.network === true || (proposer.plugin.needs?.secrets?.length ?? 0) > 0,
    /** Results count in the order in which work was begun, not in that of their arrival. */
    inOrder: proposer.plugin.isRecorded === true,
    next: (state: SearchState, path: SeedPath) =>
      strategy.plugin.next(state, contextFor(strategy.context, 'strategy', path)),
    rank(candidates: readonly CandidateIdea[], state: SearchState, request: SearchRequest, path: SeedPath) {
      if (strategy.plugin.rank === undefined) return candidates.map((_, place) => place)
      return strategy.plugin.rank(candidates, state, { ...contextFor(strategy.context, 'rank', path), request })
    },
    decide: (race: Race, path: SeedPath) => keepRule.plugin.decide(race, contextFor(keepRule.context, 'keep', path)),
    propose: (brief: Brief, path: SeedPath, signal: AbortSignal) =>
      proposer.plugin.propose(brief, { ...contextFor(proposer.context, 'propose', path), signal }),
  }
}
