// The rollouts of one batch: its groups, and other tasks in place of groups that teach nothing.
import type { HarborTask, Random } from '../../contracts/index.ts'
import { type ComparedGroup, compareGroup } from './compare-group.ts'
import { type DrawnStep, type DrawOptions, drawGroups } from './draw-groups.ts'

export interface DrawnBatch {
  readonly groups: readonly ComparedGroup[]
  /** Groups of other tasks, drawn in place of constant ones. */
  readonly resampled: number
}

export interface BatchOptions extends DrawOptions {
  /** All tasks, for those that take the place of others. */
  readonly rows: readonly HarborTask[]
  random(...path: (string | number)[]): Random
}

export async function drawBatch(
  step: DrawnStep,
  tasks: readonly HarborTask[],
  options: BatchOptions,
): Promise<DrawnBatch> {
  const { params, rows, random } = options
  const draw = async (asked: readonly HarborTask[], first: number) => {
    const groups = await drawGroups(step, asked, options, first)
    return groups.map((group) => compareGroup(group, params))
  }
  let groups = await draw(tasks, 0)
  if (params.constant_groups !== 'resample') return { groups, resampled: 0 }
  const used = new Set(tasks)
  const others = random('resample', step.batchIndex).shuffle(rows.filter((row) => !used.has(row)))
  let resampled = 0
  for (let round = 0; round < params.max_resamples; round++) {
    const missing = tasks.length - groups.filter(({ state }) => state === 'useful').length
    const next = others.splice(0, missing)
    if (next.length === 0) break
    groups = [...groups, ...(await draw(next, tasks.length + resampled))]
    resampled += next.length
  }
  return { groups, resampled }
}
