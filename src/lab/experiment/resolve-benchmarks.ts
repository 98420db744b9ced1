import type { Plan } from '../../contracts/index.ts'

/** The plan with a folder for every benchmark that is named: `id: router-val@2`, or `name: router-val` and nothing else. */
export async function resolveBenchmarks(plan: Plan, projectDir: string): Promise<Plan> {
  const { metadata } = plan.experiment
  const benchmark = await Promise.all(
    metadata.benchmark.map(async (entry) => {
      if (entry.path !== undefined || entry.data !== undefined) return entry
      const { findBenchmark } = await import('../../evaluate/index.ts')
      const { folder } = await findBenchmark(projectDir, entry.id ?? entry.name)
      return { ...entry, path: folder }
    }),
  )
  return { ...plan, experiment: { ...plan.experiment, metadata: { ...metadata, benchmark } } }
}
