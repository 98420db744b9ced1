import * as z from 'zod'
import type { TaskAnswers, TaskRewards } from '../../contracts/index.ts'
import { defineMetric } from '../../kernel/index.ts'
import { markedAnswer } from '../verifiers/final-answer.ts'
import { meanOf, passThreshold } from './full-rewards.ts'

/** Whether the answer that most of k samples give passes. */
export const majorityAtK = defineMetric({
  kind: 'majority@{k}',
  summary: 'Share of tasks whose most frequent final answer among k samples passes; ties go to the earlier answer.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples that vote.') }),
  direction: 'max',
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
