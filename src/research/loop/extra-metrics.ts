// What is known of an attempt beside its score: other numbers of the scorer, and the memory that its runs held.
import type { Metrics, ResearchAttempt } from '../../contracts/index.ts'

/** Most memory that the processes of a run held together. */
export const PEAK_MEMORY = 'memory_gb'
/** Of the GPU, as the candidate reported it. */
const GPU_MEMORY = 'gpu_memory_gb'

/** Means over seeds; of memory, the most of any run. */
export function extraMetrics({ scores, runs }: Pick<ResearchAttempt, 'scores' | 'runs'>): Metrics {
  const names = [...new Set(scores.flatMap(({ secondary }) => Object.keys(secondary)))].sort()
  const means = names.flatMap((name): [string, number][] => {
    const values = scores.flatMap(({ secondary }) => secondary[name] ?? [])
    return [[name, values.reduce((sum, value) => sum + value / values.length, 0)]]
  })
  const held = most(runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []))
  const onGpu = most(runs.flatMap(({ claimed }) => claimed?.[GPU_MEMORY] ?? []))
  return {
    ...(held === undefined ? {} : { [PEAK_MEMORY]: gigabytes(held) }),
    ...(onGpu === undefined ? {} : { [GPU_MEMORY]: onGpu }),
    ...Object.fromEntries(means), // a scorer may have a number of that name
  }
}

function most(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values)
}

// More digits than these are chance.
function gigabytes(bytes: number): number {
  return Number((bytes / 1e9).toPrecision(3))
}
