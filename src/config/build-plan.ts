// The plan of a valid experiment: arms and runs in the order in which they start, each with the hash of what it computes.
import {
  type Experiment,
  type Notice,
  type Plan,
  type PlannedArm,
  type PlannedRun,
  referencedArms,
} from '../contracts/index.ts'
import { baseModelArm } from './base-model-arm.ts'
import type { Arms } from './build-arms.ts'
import type { Resolved } from './check-experiment.ts'
import { ConfigHasher, secondsBudget } from './config-hash.ts'
import { type CheckedArm, expandRepeats, type RepeatedRun, seedsOf } from './expand-repeats.ts'
import type { LocatedMap } from './located.ts'
import type { PathResolver } from './resolve-paths.ts'

export interface PlanParts {
  readonly shell: Omit<Experiment, 'runs'>
  readonly arms: Arms
  readonly resolved: Resolved
  readonly paths: PathResolver
  readonly notices: Notice[]
}

export function buildPlan({ shell, arms, resolved, paths, notices }: PlanParts): {
  plan: Plan
  runTrees: Map<string, LocatedMap>
} {
  const hasher = new ConfigHasher((path) => paths.portable(path))
  const experiment: Experiment = {
    ...shell,
    ...(shell.budget === undefined ? {} : { budget: secondsBudget(shell.budget) }),
    runs: arms.base.map(({ config }) => config),
  }
  const runs: PlannedRun[] = []
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
  const base = baseModelArm(resolved.claim, {
    ...{ arms: arms.planned, runs: repeated, hasher },
    isNamed: shell.metadata.benchmark.some(({ models }) => models.includes('base_model')),
  })
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
  return {
    name: arm.name,
    params: { ...arm.params },
    seeds: seedsOf(arm, shell),
    ...(Number.isSafeInteger(max_steps) ? { max_steps: Number(max_steps) } : {}),
  }
}
