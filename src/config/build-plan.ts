// The plan of a valid experiment: arms and runs in the order in which they start, each with the hash of what it computes.
import {
  type Experiment,
  type Notice,
  type Plan,
  type PlannedArm,
  type ResolvedClaim,
  type RunConfig,
  referencedArms,
  type TrainingRun,
} from '../contracts/index.ts'
import { withoutUndefined } from '../kernel/index.ts'
import type { Arms } from './build-arms.ts'
import type { Resolved } from './check-experiment.ts'
import { ConfigHasher, withSecondsBudget } from './config-hash.ts'
import { type CheckedArm, expandRepeats, type RepeatedRun, seedsOf } from './expand-matrix.ts'
import type { LocatedMap } from './located.ts'
import { baseModel } from './resolve-claim.ts'
import type { PathResolver } from './resolve-paths.ts'

interface PlanParts {
  readonly shell: Omit<Experiment, 'runs'>
  readonly arms: Arms
  readonly resolved: Resolved
  readonly paths: PathResolver
  readonly notices: Notice[]
}

export function buildPlan({ shell, arms, resolved, paths, notices }: PlanParts) {
  const hasher = new ConfigHasher((path) => paths.portable(path))
  const experiment: Experiment = { ...withSecondsBudget(shell), runs: arms.base.map(({ config }) => config) }
  const runs: TrainingRun[] = []
  const runTrees = new Map<string, LocatedMap>()
  const hashes = new Map<string, string>()
  const repeated = expandRepeats(arms.planned, shell)
  for (const { tree, ...run } of repeated) {
    const needed = weightSources(run, repeated).flatMap((name) => hashes.get(name) ?? [])
    const config_hash = hasher.run(run.config, needed.length === 0 ? undefined : needed.join(' '))
    hashes.set(run.name, config_hash)
    runTrees.set(run.name, tree)
    runs.push({ ...run, config_hash })
  }
  const isNamed = shell.metadata.benchmark.some(({ models }) => models.includes(baseModel))
  const base = baseModelArm(resolved.claims ?? [resolved.claim], isNamed, arms.planned, repeated, hasher)
  const plan: Plan = {
    experiment,
    config_hash: hasher.experiment(experiment),
    ...resolved,
    arms: [...arms.planned.map((arm) => plannedArm(arm, shell)), ...(base === undefined ? [] : [base.arm])],
    runs: [...runs, ...(base?.runs ?? [])],
    notices,
  }
  return { plan, runTrees }
}

/** Runs whose weights a run takes. */
function weightSources({ after, seed, config }: Omit<RepeatedRun, 'tree'>, runs: readonly RepeatedRun[]): string[] {
  const arms = referencedArms(config)
  const others = arms.length === 0 ? [] : runs.filter((other) => arms.includes(other.arm) && other.seed === seed)
  return [...(after === undefined ? [] : [after]), ...others.map(({ name }) => name)]
}

function plannedArm(arm: CheckedArm, shell: PlanParts['shell']): PlannedArm {
  const max_steps = arm.config.algorithm.params.max_steps
  return withoutUndefined({
    name: arm.name,
    params: { ...arm.params },
    seeds: seedsOf(arm, shell),
    max_steps: Number.isSafeInteger(max_steps) ? Number(max_steps) : undefined,
  })
}

// The untrained model as an arm: a claim that names it needs its scores, under the seeds of the arms that it is compared with.
/** The arm that scores the model as it came; undefined where neither the claim nor `models` of a benchmark names it. */
function baseModelArm(
  claims: readonly (ResolvedClaim | undefined)[],
  isNamed: boolean,
  arms: readonly CheckedArm[],
  runs: readonly RepeatedRun[],
  hasher: ConfigHasher,
) {
  const claimed = new Set(
    claims.flatMap((claim) => claim?.pairs ?? []).flatMap(({ treatment, baseline }) => [treatment, baseline]),
  )
  if (!claimed.delete(baseModel) && !isNamed) return undefined
  const compared = claimed.size > 0 ? claimed : new Set(arms.map(({ name }) => name))
  const template = arms.find(({ name }) => compared.has(name))?.config
  if (template === undefined) return undefined
  const seeds = [...new Set(runs.filter(({ arm }) => compared.has(arm)).map(({ seed }) => seed))].sort((a, b) => a - b)
  return {
    arm: { name: baseModel, params: {}, seeds, max_steps: 0 },
    runs: seeds.map((seed): TrainingRun => {
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
