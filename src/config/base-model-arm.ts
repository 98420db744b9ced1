// The untrained model as an arm: a claim that names it needs its scores, under the seeds of the arms that it is compared with.
import type { PlannedArm, PlannedRun, ResolvedClaim, RunConfig } from '../contracts/index.ts'
import type { ConfigHasher } from './config-hash.ts'
import type { CheckedArm, RepeatedRun } from './expand-repeats.ts'
import { baseModel } from './resolve-claim.ts'

export interface BaseModelArm {
  readonly arm: PlannedArm
  readonly runs: readonly PlannedRun[]
}

export interface BaseModelOptions {
  readonly arms: readonly CheckedArm[]
  readonly runs: readonly RepeatedRun[]
  readonly hasher: ConfigHasher
  /** A benchmark has `base_model` among its `models`. */
  readonly isNamed?: boolean
}

/** The arm that scores the model as it came; undefined where neither the claim nor `models` of a benchmark asks for it. */
export function baseModelArm(
  claim: ResolvedClaim | undefined,
  { arms, runs, hasher, isNamed = false }: BaseModelOptions,
): BaseModelArm | undefined {
  const claimed = new Set(claim?.pairs.flatMap(({ treatment, baseline }) => [treatment, baseline]))
  if (!claimed.delete(baseModel) && !isNamed) return undefined
  const compared = claimed.size > 0 ? claimed : new Set(arms.map(({ name }) => name))
  const template = arms.find(({ name }) => compared.has(name))?.config
  if (template === undefined) return undefined
  const seeds = [...new Set(runs.filter(({ arm }) => compared.has(arm)).map(({ seed }) => seed))].sort((a, b) => a - b)
  return {
    arm: { name: baseModel, params: {}, seeds, max_steps: 0 },
    runs: seeds.map((seed) => {
      const name = seeds.length > 1 ? `${baseModel}__s${seed}` : baseModel
      const config = untrained(template, name, seed)
      return { name, arm: baseModel, seed, config, config_hash: hasher.run(config) }
    }),
  }
}

// As it came: no checkpoint, no recipe; rendered and served as in the arm that it is compared with.
function untrained({ model, algorithm, ...run }: RunConfig, name: string, seed: number): RunConfig {
  const { load_checkpoint_path: _, init_from_checkpoint: __, resume_step: ___, ...asItCame } = model
  const renderer = algorithm.params.renderer_name
  const params = renderer === undefined ? {} : { renderer_name: renderer }
  return { ...run, name, seed, model: asItCame, algorithm: { kind: 'score_only', params } }
}
