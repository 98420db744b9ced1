// The arms of a normalised experiment: from `run`, `runs` or `matrix`, through chains, each validated as a whole run.
import { RunConfig } from '../contracts/index.ts'
import type { NodeChecker } from './check-node.ts'
import { withKey } from './edit-tree.ts'
import { type Chain, expandChain } from './expand-chain.ts'
import { type Arm, expandMatrix } from './expand-matrix.ts'
import type { CheckedArm } from './expand-repeats.ts'
import { type LocatedMap, type LocatedNode, scalarNode, textOf } from './located.ts'
import { presentIn } from './normalise.ts'
import { withoutNulls } from './schema-walk.ts'
import { spellAgent } from './spell-agent.ts'

export interface Arms {
  /** The arms as written: what the experiment lists as its runs. */
  readonly base: readonly CheckedArm[]
  /** The arms that are run: the stages of a chain, else the same. */
  readonly planned: readonly CheckedArm[]
  /** All that could be expanded, valid or not, for checks of their names. */
  readonly expanded: readonly Arm[]
}

/** Expands and validates the arms. `finish` is applied to each tree before it is validated. */
export function buildArms(root: LocatedMap, checker: NodeChecker, finish: (tree: LocatedMap) => LocatedMap): Arms {
  const finished = (arm: Arm): Arm => ({ ...arm, tree: finish(spellAgent(withoutNulls(arm.tree, RunConfig))) })
  const written = writtenArms(root, checker)
  const [only] = written
  const isOne = only !== undefined && written.length === 1
  const chain: Chain | undefined = isOne ? expandChain(only, root, checker.report) : undefined
  // What a chain would supply cannot be told from one that is not well formed: only the chain itself is reported.
  if (isOne && chain === undefined) return { base: [], planned: [], expanded: [] }
  const base = (chain === undefined ? written : [chain.base]).map(finished)
  const stages = chain?.stages?.map((arm) => ({
    ...finished(arm),
    ...(arm.stage === undefined ? {} : { stage: arm.stage }),
  }))
  const checkedBase = checkArms(base, checker)
  return {
    base: checkedBase,
    planned: stages === undefined ? checkedBase : checkArms(stages, checker),
    expanded: stages ?? base,
  }
}

function writtenArms(root: LocatedMap, checker: NodeChecker): Arm[] {
  const name = root.entries.get('name')?.value ?? scalarNode('experiment', root.origin) // its absence is reported at the root
  // With two forms, which is an error of its own, the other would only be found to lack what the first one has.
  const run = presentIn(root, 'run')
  if (run !== undefined) return armOf(run, name, checker)
  const runs = presentIn(root, 'runs')
  const matrix = presentIn(root, 'matrix')
  if (runs === undefined) return matrix === undefined ? [] : (expandMatrix(matrix, name, checker) ?? [])
  if (runs.type !== 'seq' || runs.items.length === 0) {
    const message = runs.type === 'seq' ? 'the list is empty' : 'expected a list of runs'
    checker.report.problem(runs.origin, {
      code: 'CONFIG_INVALID',
      message,
      fix: 'list at least one run, or write `run`.',
    })
    return []
  }
  return runs.items.flatMap((item) => armOf(item, runs.items.length === 1 ? name : undefined, checker))
}

function armOf(run: LocatedNode, fallbackName: LocatedNode | undefined, checker: NodeChecker): Arm[] {
  if (run.type !== 'map') {
    checker.check(RunConfig, run)
    return []
  }
  const named = run.entries.has('name') || fallbackName === undefined ? run : withKey(run, 'name', fallbackName)
  const name = named.entries.get('name')?.value
  return [{ name: textOf(name) ?? '', nameAt: name?.origin ?? run.origin, tree: named, params: {} }]
}

function checkArms(arms: readonly (Arm & { stage?: number })[], checker: NodeChecker): CheckedArm[] {
  return arms.flatMap((arm) => {
    const config = checker.checkFields(RunConfig, arm.tree)
    if (config === undefined) return []
    const { name, params, tree, stage } = arm
    return [{ name, params, tree, config, ...(stage === undefined ? {} : { stage }) }]
  })
}
