// The plugins of one session, each with a context whose randomness is keyed by what it is asked for.
import type {
  Brief,
  CandidateIdea,
  Context,
  KeepRule,
  Proposal,
  Proposer,
  Race,
  RaceStep,
  SearchRequest,
  SearchState,
  SeedPath,
  SessionSettings,
  Strategy,
} from '../../contracts/index.ts'
import { equipPlugin, keyedRandom, type PluginServices } from '../../kernel/index.ts'

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
