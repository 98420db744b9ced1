// The arms of a normalised experiment: from `run`, `runs` or `matrix`, through chains, each validated as a whole run.
import { RunConfig } from '../contracts/index.ts'
import { suggest } from '../kernel/index.ts'
import type { NodeChecker } from './check-node.ts'
import { changeAt, changeMap, spellAgent, withKey, withoutKey } from './edit-tree.ts'
import { type Arm, type CheckedArm, expandMatrix } from './expand-matrix.ts'
import {
  impliedOrigin,
  type LocatedMap,
  type LocatedNode,
  mapNode,
  nodeAt,
  numberOf,
  scalarNode,
  seqNode,
  textOf,
} from './located.ts'
import { presentIn } from './normalise.ts'
import type { Report } from './report.ts'
import { safeName } from './safe-name.ts'
import { withoutNulls } from './schema-walk.ts'

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
  // A chain that is not well formed does not say what it would supply: only the chain itself is reported.
  if (isOne && chain === undefined) return { base: [], planned: [], expanded: [] }
  const base = (chain === undefined ? written : [chain.base]).map(finished)
  const stages = chain?.stages?.map(finished)
  const checkedBase = checkArms(base, checker)
  return {
    base: checkedBase,
    planned: stages === undefined ? checkedBase : checkArms(stages, checker),
    expanded: stages ?? base,
  }
}

function writtenArms(root: LocatedMap, checker: NodeChecker): Arm[] {
  const name = root.entries.get('name')?.value ?? scalarNode('experiment', root.origin) // its absence is reported at the root
  // With two forms, which is a separate error, the other would only be found to lack what the first one has.
  const run = presentIn(root, 'run')
  if (run !== undefined) return armOf(run, name, checker)
  const runs = presentIn(root, 'runs')
  const matrix = presentIn(root, 'matrix')
  if (runs === undefined) return matrix === undefined ? [] : (expandMatrix(matrix, name, checker) ?? [])
  if (runs.type !== 'seq' || runs.items.length === 0) {
    const message = runs.type === 'seq' ? 'the list is empty' : 'expected a list of runs'
    const fix = 'list at least one run, or write `run`.'
    checker.report.problem(runs.origin, { code: 'CONFIG_INVALID', message, fix })
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

function checkArms(arms: readonly Arm[], checker: NodeChecker): CheckedArm[] {
  return arms.flatMap((arm) => {
    const config = checker.checkFields(RunConfig, arm.tree)
    return config === undefined ? [] : [{ ...arm, config }]
  })
}

// `continual` and `stages` as chains: one arm for each dataset or recipe, each starting from the weights of the one before.
/** A run as its chain. `base` is the run with what it lacks taken from the first stage; no stages: it is no chain. */
interface Chain {
  readonly base: Arm
  readonly stages?: readonly Arm[] | undefined
}

/** The chain that `continual` or `stages` at the root make of an arm; undefined where they are not well formed. */
function expandChain(arm: Arm, root: LocatedMap, report: Report): Chain | undefined {
  const continual = presentIn(root, 'continual')
  if (continual !== undefined) return continualChain(arm, continual, report)
  const written = presentIn(root, 'stages')
  if (written === undefined) return { base: arm }
  const stages = nodeAt(written, ['stages'])
  const hasRecipes = stages?.type === 'seq' && stages.items.every((item) => nodeAt(item, ['algorithm'])?.type === 'map')
  return hasRecipes && stages.items.length > 0 ? stagedChain(arm, stages.items) : undefined
}

function continualChain(arm: Arm, continual: LocatedNode, report: Report): Chain | undefined {
  const datasets = nodeAt(continual, ['datasets'])
  if (datasets?.type !== 'seq' || datasets.items.length === 0) return undefined
  const template = nodeAt(continual, ['name_template'])
  const nameOf = stageNamer(arm.name, template, report)
  const stages = datasets.items.map((data, stage) => {
    const tree = withTags(started(withKey(arm.tree, 'data', data), stage), ['continual', `stage:${stage}`])
    return stageArm({ ...arm, nameAt: template?.origin ?? arm.nameAt }, tree, nameOf(stage), stage, { stage })
  })
  const isMixed = nodeAt(continual, ['mix'])
  const beside = isMixed?.type === 'scalar' && isMixed.value === true ? [mixArm(arm, datasets.items, isMixed)] : []
  return { base: withFallback(arm, 'data', datasets.items[0]), stages: [...stages, ...beside] }
}

// All datasets at once, for as many steps as the whole chain has: the same work, without an order to forget in.
function mixArm(arm: Arm, [first, ...others]: readonly LocatedNode[], at: LocatedNode): Arm {
  const data = first === undefined ? arm.tree : withKey(arm.tree, 'data', first)
  const mixed = others.length === 0 ? data : withKey(data, 'mix', seqNode(others, at.origin))
  const whole = changeAt(mixed, ['algorithm', 'params', 'max_steps'], (node) => {
    const steps = numberOf(node)
    return steps === undefined ? node : scalarNode(steps * (others.length + 1), node.origin)
  })
  const name = `${arm.name}_mix`
  const tree = withKey(withTags(whole, ['continual', 'mix']), 'name', scalarNode(name, at.origin))
  return { name, nameAt: at.origin, tree, params: { ...arm.params, mix: true } }
}

function stagedChain(arm: Arm, items: readonly LocatedNode[]): Chain {
  const stages = items.map((item, stage) => {
    const algorithm = nodeAt(item, ['algorithm']) ?? mapNode([], impliedOrigin(item.origin, 'algorithm'))
    const data = nodeAt(item, ['data'])
    const kind = textOf(nodeAt(algorithm, ['kind'])) ?? ''
    const recipe = withKey(arm.tree, 'algorithm', algorithm)
    const tree = started(data === undefined ? recipe : withKey(recipe, 'data', data), stage)
    const tagged = withTags(tree, ['stages', `stage:${stage}`, `algo:${kind}`])
    const name = safeName(`${arm.name}_stage${stage}_${kind}`)
    return stageArm({ ...arm, nameAt: item.origin }, tagged, name, stage, { stage, 'algorithm.kind': kind })
  })
  const filled = withFallback(arm, 'algorithm', nodeAt(items[0], ['algorithm']))
  return { base: withFallback(filled, 'data', nodeAt(items[0], ['data'])), stages }
}

function stageArm(arm: Arm, tree: LocatedMap, name: string, stage: number, params: Arm['params']): Arm {
  const named = withKey(tree, 'name', scalarNode(name, arm.nameAt))
  return { name, nameAt: arm.nameAt, tree: named, params: { ...arm.params, ...params }, stage }
}

function withFallback(arm: Arm, key: string, node: LocatedNode | undefined): Arm {
  return arm.tree.entries.has(key) || node === undefined ? arm : { ...arm, tree: withKey(arm.tree, key, node) }
}

// Only the first stage starts from the run's own checkpoint; the others start from the stage before them.
function started(tree: LocatedMap, stage: number): LocatedMap {
  if (stage === 0) return tree
  const ofRun = ['load_checkpoint_path', 'resume_step', 'init_from_checkpoint']
  return changeMap(tree, ['model'], (model) => withoutKey(model, ...ofRun))
}

function withTags(tree: LocatedMap, added: readonly string[]): LocatedMap {
  const tags = tree.entries.get('tags')?.value ?? seqNode([], impliedOrigin(tree.origin, 'tags'))
  if (tags.type !== 'seq') return tree
  const nodes = added.map((tag) => scalarNode(tag, tags.origin))
  return withKey(tree, 'tags', seqNode([...tags.items, ...nodes], tags.origin))
}

// Python's format, as far as names need it: `{i}` and `{i:02d}`.
const placeholder = /\{([^{}:]*)(?::0?(\d{1,2})d?)?\}/g

function stageNamer(base: string, template: LocatedNode | undefined, report: Report): (stage: number) => string {
  const text = textOf(template) ?? '{base}_stage{i}'
  for (const [, key = ''] of text.matchAll(/\{([^{}:]*)[^{}]*\}/g)) {
    if (key === 'base' || key === 'i' || template === undefined) continue
    const message = `{${key}} is neither {base} nor {i}`
    report.problem(template.origin, { code: 'CONFIG_NAME', message, fix: suggest(key, ['base', 'i']) })
  }
  return (stage) =>
    text.replaceAll(placeholder, (whole, key, width) => {
      if (key === 'base') return base
      return key === 'i' ? String(stage).padStart(Number(width ?? 0), '0') : whole
    })
}
