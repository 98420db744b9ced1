// The built-in plugins of this room.
import { avg } from './metrics/avg.ts'
import { costPerTask } from './metrics/cost-per-task.ts'
import { latencyPercentile } from './metrics/latency-percentile.ts'
import { majorityAtK } from './metrics/majority-at-k.ts'
import { meanReward } from './metrics/mean-reward.ts'
import { passAtK } from './metrics/pass-at-k.ts'
import { passHatK } from './metrics/pass-hat-k.ts'
import { passRate } from './metrics/pass-rate.ts'
import { timePerTask } from './metrics/time-per-task.ts'
import { tokensPerTask } from './metrics/tokens-per-task.ts'
import { code } from './verifiers/code.ts'
import { contains } from './verifiers/contains.ts'
import { exactMatch } from './verifiers/exact-match.ts'
import { formatOnly } from './verifiers/format-only.ts'
import { jsonSchema } from './verifiers/json-schema.ts'
import { llmJudge } from './verifiers/llm-judge.ts'
import { math } from './verifiers/math.ts'
import { numeric } from './verifiers/numeric.ts'
import { regexMatch } from './verifiers/regex-match.ts'
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
