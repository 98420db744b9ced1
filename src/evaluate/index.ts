// What other rooms may use of evaluate.
export {
  type AgentQuestion,
  answerWithAgent,
  answerWithClient,
  logprobFields,
  prompted,
  taskMessages,
  withSystemPrompt,
} from './answers/answer-tasks.ts'
export { loadUnchanged, readBenchmarkFolder, taskFoldersOf } from './benchmarks/benchmark-folder.ts'
export { benchmarksFolder, findBenchmark, keepBenchmark } from './benchmarks/benchmark-registry.ts'
export { passAtK } from './metrics/reward-metrics.ts'
export { evaluatePlugins } from './plugins.ts'
export { type RewardScore, rewardMetrics, scoreRewards } from './scorer/bounded-metrics.ts'
export { type OpenScorer, openScorer, type TrialReward } from './scorer/open-scorer.ts'
export { createScorerPlugins, placesOf } from './scorer/scorer-plugins.ts'
export { verifyAnswer } from './scorer/verify-answer.ts'
export { exactMatch } from './verifiers/text-verifiers.ts'
