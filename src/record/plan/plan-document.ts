// A recorded plan as an experiment file again: one that the loader turns into the very same plan.
import { type LoadedExperiment, loadExperiment } from '../../config/index.ts'
import type { RecordedPlan, RunConfig } from '../../contracts/index.ts'
import { canonicalJson, EvsysError } from '../../kernel/index.ts'

export interface PlanDocument {
  /** What stands in the file. */
  readonly value: Readonly<Record<string, unknown>>
  readonly loaded: LoadedExperiment
}

/** The document, checked: loading it gives the same configuration and the same claim. */
export async function planDocument(
  plan: RecordedPlan,
  { projectDir, signal }: { projectDir: string; signal: AbortSignal },
): Promise<PlanDocument> {
  const { runs, ...shell } = plan.experiment
  // Claims over several cells pair arms by their axes, so the axes are tried too; names of arms may come from a template.
  const forms = [
    { ...shell, runs },
    { ...shell, ...matrixOf(plan, runs) },
  ]
  let problem: unknown
  for (const value of forms) {
    try {
      const loaded = await loadExperiment({ value: withoutAbsent(value) }, { cwd: projectDir, signal })
      const isSame = loaded.plan.config_hash === plan.config_hash
      if (isSame && canonicalJson(loaded.plan.claim ?? null) === canonicalJson(plan.claim ?? null)) {
        return { value: withoutAbsent(value), loaded }
      }
    } catch (error) {
      signal.throwIfAborted()
      problem ??= error
    }
  }
  throw new EvsysError('CONFIG_CONFLICT', 'the recorded plan cannot be written as a file of this version of evsys', {
    cause: problem,
    fix: 'run the original experiment file again; `evsys show ID --json` holds what was recorded.',
  })
}

function matrixOf({ arms, experiment }: RecordedPlan, [first]: readonly RunConfig[]): Record<string, unknown> {
  const axes: Record<string, unknown[]> = {}
  for (const { params } of arms) {
    for (const [path, value] of Object.entries(params)) {
      const values = axes[path] ?? []
      if (!values.some((each) => canonicalJson(each) === canonicalJson(value))) values.push(value)
      axes[path] = values
    }
  }
  const name = first?.name.split('__')[0] ?? experiment.name
  return { matrix: { axes, base_run: { ...first, name } } }
}

function withoutAbsent(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value))
}
