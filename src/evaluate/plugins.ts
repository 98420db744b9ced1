// The built-in plugins of this room.
import { accuracy, confusion, macroF1, perClass } from './metrics/class-metrics.ts'
import {
  avg,
  costPerTask,
  latencyPercentile,
  majorityAtK,
  meanReward,
  passAtK,
  passHatK,
  passRate,
  timePerTask,
  tokensPerTask,
} from './metrics/reward-metrics.ts'
import { code } from './verifiers/code.ts'
import { toolCallsMatch } from './verifiers/json-answer.ts'
import { jsonSchema } from './verifiers/json-schema.ts'
import { llmJudge } from './verifiers/llm-judge.ts'
import { math } from './verifiers/math.ts'
import { numeric } from './verifiers/numeric.ts'
import { contains, exactMatch, formatOnly, regexMatch } from './verifiers/text-verifiers.ts'

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
  accuracy,
  macroF1,
  perClass,
  confusion,
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
