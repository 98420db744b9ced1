// Which tasks a step trains on. `uniform` is the order of the data; `success_rate` prefers tasks that are neither solved nor out of
// reach: with p the share of reward, groups of answers differ most often where p (1 - p) is large.
import * as z from 'zod'
import type { HarborTask, Random } from '../../contracts/index.ts'
import { verifiedReward } from './answer-reward.ts'
import type { Group } from './draw-groups.ts'

export const Curriculum = z
  .strictObject({
    kind: z
      .enum(['uniform', 'success_rate'])
      .default('uniform')
      .describe(
        'uniform: every task once per epoch; success_rate: tasks are drawn by how open their outcome was, untried ones first.',
      ),
    explore: z
      .number()
      .gt(0)
      .max(1)
      .default(0.1)
      .describe('Least weight of a task, against 1 for one that is solved half the time, with success_rate.'),
    memory: z
      .number()
      .min(0)
      .lt(1)
      .default(0.5)
      .describe('Share of what was known of a task that its next group leaves, with success_rate.'),
  })
  .describe('Which tasks a step trains on. What success_rate knows of tasks begins anew after a resume or a roll-back.')
export type Curriculum = z.infer<typeof Curriculum>

/** Share of reward that tasks had, by id. */
export type Successes = Map<string, number>

/** Takes in what a step saw. Rewards beyond 0 and 1 count as those. */
export function remember(successes: Successes, groups: readonly Group[], { memory }: Curriculum): void {
  for (const { task, answers } of groups) {
    const rewards = answers.flatMap((answer) => verifiedReward(answer) ?? [])
    if (rewards.length === 0) continue
    const seen = rewards.reduce((sum, reward) => sum + Math.min(1, Math.max(0, reward)), 0) / rewards.length
    const known = successes.get(task.task_id)
    successes.set(task.task_id, known === undefined ? seen : memory * known + (1 - memory) * seen)
  }
}

/** `size` tasks, none twice before all were taken. Weighted draws without replacement (Efraimidis and Spirakis 2006). */
export function openTasks(
  rows: readonly HarborTask[],
  size: number,
  { successes, explore, random }: { successes: Successes; explore: number; random: Random },
): HarborTask[] {
  const ranked = rows
    .map((task) => {
      const share = successes.get(task.task_id) ?? 0.5
      const weight = explore + (1 - explore) * 4 * share * (1 - share)
      return { task, key: Math.log(1 - random.float()) / weight }
    })
    .sort((a, b) => b.key - a.key)
  return Array.from({ length: size }, (_, i) => ranked[i % ranked.length]?.task ?? []).flat()
}
