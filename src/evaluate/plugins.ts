// The built-in plugins of this room.
import { avg, majorityAtK, meanReward, passAtK, passHatK, passRate } from './metrics/reward-metrics.ts'
import { costPerTask, latencyPercentile, timePerTask, tokensPerTask } from './metrics/usage-metrics.ts'
import { code } from './verifiers/code.ts'
import { jsonSchema } from './verifiers/json-schema.ts'
import { llmJudge } from './verifiers/llm-judge.ts'
import { math } from './verifiers/math.ts'
import { numeric } from './verifiers/numeric.ts'
import { contains, exactMatch, formatOnly, regexMatch } from './verifiers/text-verifiers.ts'
import { toolCallsMatch } from './verifiers/tool-calls-match.ts'

export const evaluatePlugins = [
  meanReward,
  avg,
  passRate,
  passAtK,
  passHatK,
  majorityAtK,
  timePerTask,
  latencyPercentile,
  tokensPerTask,
  costPerTask,
  exactMatch,
  contains,
  regexMatch,
  toolCallsMatch,
  formatOnly,
  numeric,
  math,
  jsonSchema,
  llmJudge,
  code,
] as const
