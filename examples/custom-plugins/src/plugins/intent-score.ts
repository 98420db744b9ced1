// A verifier scores one answer, a metric all rewards of a benchmark. One file may export several plugins.
import { defineMetric, defineVerifier, z } from 'evsys/plugin'

export const intentScore = defineVerifier({
  kind: 'intent_score',
  summary: 'Full reward for the right intent, part of it for the right group of intents.',
  params: z.strictObject({
    partial: z.number().min(0).lt(1).default(0.25).describe('Reward for another intent of the same group.'),
  }),
  verify({ output, expected }, { params }) {
    const answer = output.trim().toLowerCase()
    const wanted = String(expected)
    if (answer === wanted) return 1
    const sameGroup = answer.split('.')[0] === wanted.split('.')[0]
    return { reward: sameGroup ? params.partial : 0, info: { answer, sameGroup } }
  },
})

export const worstShare = defineMetric({
  kind: 'worst_share',
  summary: 'Mean reward of the tasks that went worst: what the unluckiest users see.',
  direction: 'max',
  params: z.strictObject({
    share: z.number().gt(0).max(1).default(0.25).describe('Which part of the tasks counts as the worst.'),
  }),
  compute(rewards, { params }) {
    const means = rewards.map((samples) => mean(samples)).sort((a, b) => a - b)
    return mean(means.slice(0, Math.max(1, Math.round(means.length * params.share))))
  },
})

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

export default [intentScore, worstShare]
