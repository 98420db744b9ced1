// What other rooms may use of evaluate.
export {
  type AgentQuestion,
  answerWithAgent,
  answerWithClient,
  prompted,
  taskMessages,
  withSystemPrompt,
} from './answers/answer-tasks.ts'
export {
  type BenchmarkFolder,
  loadUnchanged,
  readBenchmarkFolder,
  taskFoldersOf,
} from './benchmarks/benchmark-folder.ts'
export { benchmarksFolder, findBenchmark, type KeptBenchmark, keepBenchmark } from './benchmarks/benchmark-registry.ts'
export { avg, majorityAtK, meanReward, passAtK, passHatK, passRate, passThreshold } from './metrics/reward-metrics.ts'
export { costPerTask, latencyPercentile, timePerTask, tokensPerTask } from './metrics/usage-metrics.ts'
export { evaluatePlugins } from './plugins.ts'
export { type RewardScore, scoreRewards } from './scorer/bounded-metrics.ts'
export { type OpenScorer, openScorer, type ScorerOptions, type TrialReward } from './scorer/open-scorer.ts'
export { verifyAnswer } from './scorer/verify-answer.ts'
export { code } from './verifiers/code.ts'
export { jsonSchema } from './verifiers/json-schema.ts'
export { llmJudge } from './verifiers/llm-judge.ts'
export { math } from './verifiers/math.ts'
export { numeric } from './verifiers/numeric.ts'
export { contains, exactMatch, formatOnly, regexMatch } from './verifiers/text-verifiers.ts'
export { toolCallsMatch } from './verifiers/tool-calls-match.ts'
