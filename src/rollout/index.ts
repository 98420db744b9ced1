// What other rooms may use of rollout.
export { LimitReached, limitOf, type RolloutLimit } from './agents/limit-reached.ts'
export { type AgentOutcome, type AgentRun, defaultMaxTurns, runAgent } from './agents/run-agent.ts'
