// What each task adds to a metric, so that any metric can be compared task by task. Of a mean over tasks that is each task's value. Of any
// other it is the pseudo-value of the jackknife (Tukey 1958), n m(all) - (n - 1) m(without it), moved so that the mean over tasks is the
// score: for the macro-averaged F1 of ten classes as for a percentile, their spread is the uncertainty that comes from the tasks.
import type { TaskScores } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'
import { computeMetric, type PartialRewards, pick, picked, type ReadyMetric, type Samples } from './bounded-metrics.ts'

/** A metric is computed once without each task: beyond so many, tasks are left out by groups. */
const mostSingle = 1000
const groups = 500

/** Values by task of the metrics that have them and that rewards alone do not give. */
export function taskScores(
  metrics: readonly ReadyMetric[],
  names: readonly string[],
  rewards: PartialRewards,
  samples: Samples,
): TaskScores {
  const isOpen = rewards.some((task) => task.includes(null))
  return Object.fromEntries(
    metrics.flatMap((metric) => {
      if (metric.fromRewards === true) return []
      const low = taskValues(metric, rewards, samples, 0)
      const high = isOpen ? taskValues(metric, rewards, samples, 1) : low
      if (low === undefined || high === undefined || low.cells.length !== high.cells.length) return []
      const values = low.cells.map((value, i): [string, number | [number, number]] => {
        const other = high.cells[i] ?? value
        return [
          nameOf(low.members[i] ?? [], names),
          other === value ? value : [Math.min(value, other), Math.max(value, other)],
        ]
      })
      return [[metric.name, Object.fromEntries(values)]]
    }),
  )
}

interface TaskValues {
  /** Tasks of each value, by index: one, or those of a group. */
  readonly members: readonly (readonly number[])[]
  readonly cells: readonly number[]
}

/** Undefined where the metric has no value, or none without some task. */
function taskValues(
  metric: ReadyMetric,
  rewards: PartialRewards,
  samples: Samples,
  missing: number,
): TaskValues | undefined {
  const n = rewards.length
  const total = computeMetric(metric, rewards, samples, missing)
  if (n < 2 || total === undefined) return undefined
  const of = (tasks: readonly number[]) => computeMetric(metric, pick(rewards, tasks), picked(samples, tasks), missing)
  const all = rewards.map((_, i) => i)
  const single = all.map((i) => valueOrNone(() => of([i])))
  if (single.every((value) => value !== undefined)) {
    // Of few tasks a mean may equal the score by coincidence: halves of them must agree as well.
    const parts = [all, all.filter((i) => i % 2 === 0), all.filter((i) => i % 2 === 1)]
    const isMean = parts.every((part) => {
      const value = part === all ? total : valueOrNone(() => of(part))
      return value !== undefined && isNear(meanOf(pick(single, part)), value)
    })
    if (isMean) return { members: all.map((i) => [i]), cells: single }
  }
  const members = n <= mostSingle ? all.map((i) => [i]) : grouped(all)
  const without = members.map((left) => {
    const out = new Set(left)
    return valueOrNone(() => of(all.filter((i) => !out.has(i))))
  })
  if (!without.every((value) => value !== undefined)) return undefined
  // Moved to the score: n (m - m(without)) has the spread, the score the place.
  const middle = meanOf(without)
  return { members, cells: without.map((value) => total + (members.length - 1) * (middle - value)) }
}

// A metric of the whole may have none of a part: no class, nothing to divide by.
function valueOrNone(compute: () => number | undefined): number | undefined {
  try {
    return compute()
  } catch {
    return undefined
  }
}

function isNear(mean: number, total: number): boolean {
  return Math.abs(mean - total) <= 1e-9 * Math.max(1, Math.abs(total))
}

// Every 500th task, whatever the order of the benchmark: neighbours are often alike.
function grouped(all: readonly number[]): number[][] {
  return Array.from({ length: groups }, (_, group) => all.filter((i) => i % groups === group))
}

function nameOf(members: readonly number[], names: readonly string[]): string {
  const [first = 0] = members
  const name = names[first] ?? String(first)
  return members.length === 1 ? name : `${name} and ${members.length - 1} more`
}
