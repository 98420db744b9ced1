// From answers to a score: a verifier for each answer, metrics over all tasks. It knows no process: the scorer child runs it,
// and so may a test. Every task and sample counts, also those that have no answer.
import { setImmediate } from 'node:timers/promises'
import {
  type AnswerFailure,
  type Bounds,
  fewestTasks,
  type HarborTask,
  type MetricRanges,
  type Metrics,
  type MetricTask,
  type Prediction,
  type Scored,
  type ThinClasses,
  type Usage,
} from '../../contracts/index.ts'
import { canonicalJson, EvsysError, mapConcurrent } from '../../kernel/index.ts'
import {
  boundedMetrics,
  metricIntervals,
  metricParts,
  type PartialRewards,
  picked,
  type ReadyMetric,
  type Samples,
} from './bounded-metrics.ts'
import { metricSample, metricTasks } from './metric-tasks.ts'
import { taskScores } from './task-scores.ts'
import type { Verified } from './verify-answer.ts'

export interface ScoringPlan {
  readonly hash: string
  readonly tasks: readonly HarborTask[]
  readonly numSamples: number
  readonly metrics: readonly ReadyMetric[]
  readonly breakdownKeys: readonly string[]
  verify(task: HarborTask, output: string, sample: number, signal: AbortSignal): Promise<Verified>
}

interface ScoreOptions {
  /** Verifications at a time. */
  readonly limit: number
  readonly signal: AbortSignal
  /** Answers that are not verified, by `answerKey`, and why: those that took a scorer down with them. */
  readonly excluded?: ReadonlyMap<string, string> | undefined
  /** What is known already, by `answerKey`: the rewards of trials. */
  readonly given?: ReadonlyMap<string, Verified> | undefined
}

export async function scorePredictions(
  plan: ScoringPlan,
  predictions: readonly Prediction[],
  { limit, signal, excluded = new Map(), given = new Map() }: ScoreOptions,
): Promise<Scored> {
  const answers = answersByKey(plan, predictions)
  const pace = createPace()
  const cells = plan.tasks.flatMap((task) =>
    Array.from({ length: plan.numSamples }, (_, sample) => ({
      task,
      sample,
      answer: answers.get(answerKey(task.task_id, sample)),
    })),
  )
  const verified = await mapConcurrent(
    cells,
    { limit, signal },
    async ({ task, sample, answer }): Promise<Verified> => {
      const key = answerKey(task.task_id, sample)
      const known = given.get(key)
      if (known !== undefined) return known
      const reason = excluded.get(key)
      if (reason !== undefined) return { failure: reason }
      if (answer === undefined) return { failure: 'there is no answer' }
      if (answer.error !== undefined) return { failure: answer.error.message }
      if (answer.output === undefined) return { failure: 'the answer has no output' }
      await pace()
      return plan.verify(task, answer.output, sample, signal)
    },
  )
  const rewards = chunked(
    verified.map((each) => ('reward' in each ? each.reward : null)),
    plan.numSamples,
  )
  const usage = chunked(
    cells.map(({ answer }) => usageOf(answer)),
    plan.numSamples,
  )
  // An answer that could not be judged votes for nothing.
  const judged = chunked(
    cells.map(({ answer }, i) => ('reward' in (verified[i] ?? {}) ? answer?.output : undefined)),
    plan.numSamples,
  )
  // What an agent left that failed was scored all the same; where that is worth nothing the agent is the reason.
  const agentFaults = cells.flatMap(({ answer }, i) => {
    const each = verified[i]
    return each !== undefined && 'reward' in each && each.reward === 0 ? (answer?.agent_error?.message ?? []) : []
  })
  const lost = verified.flatMap((each) => ('failure' in each ? each.failure : []))
  const seen = chunked(
    cells.map(({ answer }, i) => metricSample(answer, 'reward' in (verified[i] ?? {}))),
    plan.numSamples,
  )
  const samples = { usage, answers: judged, tasks: metricTasks(plan.tasks, seen) }
  return assemble(plan, rewards, samples, { lost, agentFaults })
}

function assemble(
  plan: ScoringPlan,
  rewards: (number | null)[][],
  samples: Samples,
  { lost, agentFaults }: { lost: readonly string[]; agentFaults: readonly string[] },
): Scored {
  const n_infra_failed = rewards.flat().filter((reward) => reward === null).length
  // Where every attempt failed nothing was measured: a score of 0 would be one.
  const isBlank = n_infra_failed + agentFaults.length === rewards.flat().length
  const parts = isBlank ? { metrics: [...plan.metrics], tables: {} } : metricParts(plan.metrics, rewards, samples)
  const { metrics, bounds, intervals } =
    isBlank && agentFaults.length > 0 ? nothing : withBreakdowns(plan, parts.metrics, rewards, samples)
  const failures = [...counted(lost), ...counted(agentFaults).map((each) => ({ ...each, cause: 'agent' as const }))]
  const names = plan.tasks.map(({ task_id }) => task_id)
  const by_task = isBlank ? {} : taskScores(parts.metrics, names, rewards, samples)
  const ranges = rangesOf(parts.metrics)
  const thin = thinClasses(parts.metrics, samples.tasks ?? [])
  return {
    metrics,
    bounds: Object.keys(bounds).length === 0 ? undefined : bounds,
    intervals: isBlank || Object.keys(intervals).length === 0 ? undefined : intervals,
    rewards: Object.fromEntries(names.map((name, i) => [name, rewards[i] ?? []])),
    by_task: Object.keys(by_task).length === 0 ? undefined : by_task,
    ranges: Object.keys(ranges).length === 0 ? undefined : ranges,
    thin: Object.keys(thin).length === 0 ? undefined : thin,
    tables: Object.keys(parts.tables).length === 0 ? undefined : parts.tables,
    n_tasks: plan.tasks.length,
    n_infra_failed,
    n_agent_failed: agentFaults.length === 0 ? undefined : agentFaults.length,
    failures: failures.length === 0 ? undefined : failures,
    scorer_hash: plan.hash,
    error: isBlank ? nothingScored(failures) : undefined,
  }
}

const nothing = { metrics: {}, bounds: {}, intervals: {} }

/** Of each cause. */
const mostFailures = 5

function rangesOf(metrics: readonly ReadyMetric[]): MetricRanges {
  return Object.fromEntries(
    metrics.flatMap(({ name, range }) => (range === undefined ? [] : [[name, [range[0], range[1]]]])),
  )
}

/** Metrics of classes of which one has too few tasks. */
function thinClasses(metrics: readonly ReadyMetric[], tasks: readonly MetricTask[]): ThinClasses {
  return Object.fromEntries(
    metrics.flatMap(({ name, key, classes }) => {
      const own = (classes?.(tasks) ?? []).filter(({ label }) => key === undefined || key.endsWith(`:${label}`))
      const rarest = own.toSorted((a, b) => a.tasks - b.tasks)[0]
      return rarest === undefined || rarest.tasks >= fewestTasks ? [] : [[name, rarest]]
    }),
  )
}

function withBreakdowns(
  plan: ScoringPlan,
  all: readonly ReadyMetric[],
  rewards: PartialRewards,
  samples: Samples,
): { metrics: Metrics; bounds: Bounds; intervals: Bounds } {
  const whole = scored(all, rewards, samples)
  const parts = breakDown(plan.tasks, plan.breakdownKeys).map(({ label, members }) => {
    const labelled = plan.metrics.map((metric) => ({ ...metric, name: `${metric.name}[${label}]` }))
    const of = <T>(all: readonly (readonly T[])[]) => members.map((i) => all[i] ?? [])
    return scored(labelled, of(rewards), picked(samples, members))
  })
  return {
    metrics: Object.assign({}, whole.metrics, ...parts.map((part) => part.metrics)),
    bounds: Object.assign({}, whole.bounds, ...parts.map((part) => part.bounds)),
    intervals: Object.assign({}, whole.intervals, ...parts.map((part) => part.intervals)),
  }
}

function scored(metrics: readonly ReadyMetric[], rewards: PartialRewards, samples: Samples) {
  return { ...boundedMetrics(metrics, rewards, samples), intervals: metricIntervals(metrics, rewards, samples) }
}

export function answerKey(taskId: string, sample: number): string {
  return `${sample}:${taskId}`
}

// Answers come from a run worker: one that was not asked for, or two to the same question, means that they cannot be trusted.
function answersByKey({ tasks, numSamples }: ScoringPlan, predictions: readonly Prediction[]): Map<string, Prediction> {
  const known = new Set(tasks.map(({ task_id }) => task_id))
  const answers = new Map<string, Prediction>()
  for (const prediction of predictions) {
    const { task_id, sample } = prediction
    const key = answerKey(task_id, sample)
    const name = `sample ${sample} of task "${task_id}"`
    if (!known.has(task_id)) throw wrongAnswer(`the benchmark has no task "${task_id}"`)
    if (sample >= numSamples) throw wrongAnswer(`there is a ${name}, and num_samples is ${numSamples}`)
    if (answers.has(key)) throw wrongAnswer(`${name} was answered twice`)
    answers.set(key, prediction)
  }
  return answers
}

function wrongAnswer(message: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the predictions do not fit the benchmark: ${message}`, {
    fix: 'score answers to the tasks of this benchmark, one for each task and sample.',
  })
}

// Unknown is no number: metrics of usage leave it out, and it is never zero.
function usageOf(answer: Prediction | undefined): Usage {
  const { prompt_tokens = Number.NaN, completion_tokens = Number.NaN, latency_s = Number.NaN, cost_usd } = answer ?? {}
  return { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s, costUsd: cost_usd }
}

function counted(messages: readonly string[]): AnswerFailure[] {
  const counts = new Map<string, number>()
  for (const message of messages) counts.set(message, (counts.get(message) ?? 0) + 1)
  const all = [...counts].map(([message, count]) => ({ message, count })).sort((a, b) => b.count - a.count)
  return all.slice(0, mostFailures)
}

function nothingScored(failures: readonly { message: string }[]): ReturnType<EvsysError['toRecord']> {
  return new EvsysError('PLUGIN_FAILED', `no answer could be scored: ${failures[0]?.message ?? 'there is none'}`, {
    fix: 'correct what the message names, then score again.',
  }).toRecord()
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

/** Lets the event loop turn from time to time: thousands of quick verifications are no hang. */
function createPace(): () => Promise<void> {
  let turned = performance.now()
  return async () => {
    if (performance.now() - turned < 50) return
    await setImmediate()
    turned = performance.now()
  }
}

// Scores by the values of a field of the tasks' metadata: `pass@1[topic=algebra]`.
interface TaskGroup {
  /** `topic=algebra`. */
  readonly label: string
  readonly members: readonly number[]
}

/** A field with more values than this is an id, not a kind: those beyond it are scored together. */
const mostValues = 100
const longestValue = 60

/** The groups of tasks that each key makes, the largest first. A task without the field is under `__missing__`. */
export function breakDown(tasks: readonly HarborTask[], keys: readonly string[]): TaskGroup[] {
  return keys.flatMap((key) => {
    const groups = new Map<string, number[]>()
    for (const [i, task] of tasks.entries()) {
      const value = valueAt(task.metadata, key)
      const members = groups.get(value) ?? []
      members.push(i)
      groups.set(value, members)
    }
    const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length)
    const rest = sorted.slice(mostValues).flatMap(([, members]) => members)
    const kept = sorted.slice(0, mostValues).map(([value, members]) => ({ label: `${key}=${value}`, members }))
    return rest.length === 0 ? kept : [...kept, { label: `${key}=__other__`, members: rest }]
  })
}

function valueAt(metadata: unknown, key: string): string {
  let value: unknown = metadata
  for (const part of key.split('.')) {
    const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    value = isHolder ? Reflect.get(Object(value), part) : undefined
  }
  if (value === undefined || value === null) return '__missing__'
  const text = typeof value === 'object' ? canonicalJson(value) : String(value)
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
}
