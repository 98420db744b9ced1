// Metrics over the rewards of tasks: means, pass rates, and the chance that some, all or most of k samples pass; and over what answers
// took, in time, tokens or money.
import * as z from 'zod'
import type { TaskAnswers, TaskRewards, Usage } from '../../contracts/index.ts'
import { defineMetric } from '../../kernel/index.ts'
import { passHatK as chanceOfAll, passAtK as chanceOfAny, meanOf as mean } from '../../stats/index.ts'
import { markedAnswer } from '../verifiers/final-answer.ts'

export const meanReward = defineMetric({
  kind: 'mean_reward',
  summary: 'Mean over tasks of the mean reward of each task’s samples.',
  direction: 'max',
  compute: (rewards) => macroMean(rewards),
})

/** The mean in which every task weighs the same. */
function macroMean(rewards: TaskRewards): number | undefined {
  return meanOf(fullRewards(rewards).map((task) => meanOf(task) ?? 0))
}

export const avg = defineMetric({
  kind: 'avg',
  summary: 'Short name of mean_reward.',
  direction: 'max',
  compute: (rewards) => macroMean(rewards),
})

export const passRate = defineMetric({
  kind: 'pass_rate',
  summary: 'Share of all samples that pass: reward of 1 or more.',
  direction: 'max',
  range: [0, 1],
  // Equal numbers of samples per task make the mean of shares the share of all.
  compute: (rewards) => meanOf(fullRewards(rewards).map((task) => passes(task) / task.length)),
})

export const passAtK = defineMetric({
  kind: 'pass@{k}',
  summary: 'Chance that at least one of k samples of a task passes, without bias when more than k were taken.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples of which one must pass.') }),
  direction: 'max',
  range: [0, 1],
  minSamples: ({ k }) => k,
  compute: (rewards, { params: { k } }) =>
    meanOf(fullRewards(rewards, k).map((task) => chanceOfAny(task.length, passes(task), k))),
})

export const passHatK = defineMetric({
  kind: 'pass^{k}',
  summary: 'Chance that all of k samples of a task pass, without bias when more than k were taken.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples that must all pass.') }),
  direction: 'max',
  range: [0, 1],
  minSamples: ({ k }) => k,
  compute: (rewards, { params: { k } }) =>
    meanOf(fullRewards(rewards, k).map((task) => chanceOfAll(task.length, passes(task), k))),
})

export const majorityAtK = defineMetric({
  kind: 'majority@{k}',
  summary: 'Share of tasks whose most frequent final answer among k samples passes; ties go to the earlier answer.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples that vote.') }),
  direction: 'max',
  range: [0, 1],
  minSamples: ({ k }) => k,
  compute(rewards, { params: { k }, answers }) {
    if (answers === undefined) return undefined
    return meanOf(rewards.map((_, task) => taskMajority(rewards, answers, task, k)))
  },
})

function taskMajority(rewards: TaskRewards, answers: TaskAnswers, task: number, k: number): number {
  const samples = (rewards[task] ?? []).map((reward, i) => ({ reward, answer: answers[task]?.[i] }))
  const groups = Math.max(1, Math.floor(samples.length / k))
  const passed = Array.from({ length: groups }, (_, i) => vote(samples.slice(i * k, (i + 1) * k)))
  return meanOf(passed) ?? 0
}

interface Sample {
  readonly reward: number
  readonly answer: string | undefined
}

/** 1 where the winner passes. */
function vote(samples: readonly Sample[]): number {
  const votes = new Map<string, { n: number; passes: boolean }>()
  for (const { reward, answer } of samples) {
    if (answer === undefined) continue
    const key = (markedAnswer(answer) ?? answer).trim()
    const known = votes.get(key)
    votes.set(key, { n: (known?.n ?? 0) + 1, passes: known?.passes ?? reward >= passThreshold })
  }
  // A sample that infrastructure lost could have voted for what is best, or worst: its filled-in reward says which.
  for (const { reward } of samples.filter(({ answer }) => answer === undefined)) {
    const passes = reward >= passThreshold
    const [key = 'lost'] =
      [...votes].filter(([, each]) => each.passes === passes).sort(([, a], [, b]) => b.n - a.n)[0] ?? []
    votes.set(key, { n: (votes.get(key)?.n ?? 0) + 1, passes })
  }
  const winner = [...votes.values()].reduce<{ n: number; passes: boolean } | undefined>(
    (best, each) => (best === undefined || each.n > best.n ? each : best),
    undefined,
  )
  return winner?.passes === true ? 1 : 0
}

/** Means over tasks that rewards alone give: they can be computed again from the rewards, task by task. */
export const rewardMetrics: ReadonlySet<unknown> = new Set([meanReward, avg, passRate, passAtK, passHatK])

// Rewards in a shape that every metric can count on: each task has as many samples as the one with the most.

/** An answer with at least this reward passes. */
export const passThreshold = 1

/**
 * Rewards with missing samples filled in by 0: a rollout that gave nothing is a failure of its task, and a task without any
 * stays in every denominator. A reward that is no finite number is an error.
 */
function fullRewards(rewards: TaskRewards, atLeast = 1): TaskRewards {
  const samples = rewards.reduce((most, task) => Math.max(most, task.length), atLeast)
  return rewards.map((task, index) =>
    Array.from({ length: samples }, (_, sample) => {
      const reward = task[sample] ?? 0
      if (!Number.isFinite(reward)) throw new TypeError(`the reward of task ${index}, sample ${sample} is ${reward}`)
      return reward
    }),
  )
}

function passes(task: readonly number[]): number {
  return task.filter((reward) => reward >= passThreshold).length
}

/** Mean of numbers; undefined where there are none. */
function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : mean(values)
}

export const timePerTask = defineMetric({
  kind: 'time_per_task',
  summary: 'Mean seconds per attempt at a task.',
  direction: 'min',
  range: [0, null],
  compute: (_rewards, { usage }) => meanUsage(usage, ({ latencyS }) => latencyS),
})

export const latencyPercentile = defineMetric({
  kind: 'latency_p{q}',
  summary: 'Seconds within which q of a hundred answers came: latency_p50, latency_p95.',
  params: z.strictObject({ q: z.int().min(1).max(100).describe('Of a hundred.') }),
  direction: 'min',
  range: [0, null],
  compute(_rewards, { params: { q }, usage }) {
    const seconds = usage
      .flat()
      .map(({ latencyS }) => latencyS)
      .filter((each) => Number.isFinite(each))
      .sort((a, b) => a - b)
    return seconds[Math.ceil((q / 100) * seconds.length) - 1]
  },
})

export const tokensPerTask = defineMetric({
  kind: 'tokens_per_task',
  summary: 'Mean tokens per attempt at a task, prompt and completion together.',
  direction: 'min',
  range: [0, null],
  compute: (_rewards, { usage }) =>
    meanUsage(usage, ({ promptTokens, completionTokens }) => promptTokens + completionTokens),
})

export const costPerTask = defineMetric({
  kind: 'cost_per_task',
  summary: 'Mean US dollars per attempt at a task; absent where the model reports no cost.',
  direction: 'min',
  range: [0, null],
  compute: (_rewards, { usage }) => meanUsage(usage, ({ costUsd }) => costUsd),
})

/**
 * Mean over tasks of the mean over their samples, of those that reported the value. Undefined where nothing was reported:
 * unknown is never zero.
 */
function meanUsage(
  usage: readonly (readonly Usage[])[],
  amountOf: (usage: Usage) => number | undefined,
): number | undefined {
  const perTask = usage.map((task) => meanOf(task.map(amountOf).filter(isReported)))
  return meanOf(perTask.filter(isReported))
}

function isReported(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value)
}
