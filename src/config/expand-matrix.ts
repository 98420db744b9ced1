// A matrix as arms: the cartesian product of its axes over the base run, in the order in which the axes are written. Axis values
// are put into the tree before anything is validated, so the base run may lack what they supply, and a wrong value is located
// in the list of its axis.
import type * as z from 'zod'
import { type Experiment, Matrix, type RunConfig, type TrainingRun } from '../contracts/index.ts'
import { canonicalJson, suggest, withoutUndefined } from '../kernel/index.ts'
import type { NodeChecker } from './check-node.ts'
import { formatPath, parsePath } from './dotted-path.ts'
import { withKey, withValueAt } from './edit-tree.ts'
import {
  impliedOrigin,
  type LocatedMap,
  type LocatedNode,
  mapNode,
  type Origin,
  type Path,
  scalarNode,
  textOf,
  toJs,
} from './located.ts'
import { placeName, type Report } from './report.ts'
import { safeName, valueLabel } from './safe-name.ts'

/** One arm before it is validated. */
export interface Arm {
  readonly name: string
  /** What its name comes from. */
  readonly nameAt: Origin
  readonly tree: LocatedMap
  /** Axis values that make it. */
  readonly params: Readonly<Record<string, unknown>>
  /** Its place in a chain; absent: it stands alone, or beside the chain. */
  readonly stage?: number | undefined
}

/** More arms than can be compared; a list too many in an axis makes millions. */
export const maxArms = 10_000

const PartialRun = Matrix.shape.base_run.unwrap()
const MatrixShell = Matrix.omit({ base_run: true, axes: true })

/** The arms of a matrix; undefined when the report says why there are none. */
export function expandMatrix(matrix: LocatedNode, name: LocatedNode, checker: NodeChecker): Arm[] | undefined {
  const { report } = checker
  if (matrix.type !== 'map') return void checker.check(Matrix, matrix, 'CONFIG_MATRIX')
  const { base_run: base, axes: written, ...shell } = Object.fromEntries(matrix.entries)
  const isShellValid = checker.checkFields(MatrixShell, mapNode(Object.values(shell), matrix.origin)) !== undefined
  const run = base?.value ?? mapNode([], impliedOrigin(matrix.origin, 'base_run'))
  const axes = readAxes(written?.value, report)
  if (run.type !== 'map') checker.check(Matrix.shape.base_run, run)
  if (axes === undefined || run.type !== 'map' || !isShellValid) return undefined
  const named = run.entries.has('name') ? run : withKey(run, 'name', name)
  const template = matrix.entries.get('name_template')?.value
  const nameOf = armNamer(named, axes, template, report)
  if (nameOf === undefined) return undefined
  return product(axes).flatMap((cell) => armOf(cell, named, nameOf(cell), template, checker) ?? [])
}

interface AxisValue {
  readonly axis: Axis
  readonly node: LocatedNode
  readonly label: string
}

interface Axis {
  readonly key: string
  readonly path: Path
  readonly at: Origin
  readonly values: readonly AxisValue[]
}

function readAxes(node: LocatedNode | undefined, report: Report): Axis[] | undefined {
  if (node === undefined) return []
  const fix = 'write a dotted path and a list: `algorithm.params.lora_rank: [4, 16]`.'
  if (node.type !== 'map') {
    return report.problem(node.origin, {
      code: 'CONFIG_MATRIX',
      message: 'axes are a mapping from paths to lists',
      fix,
    })
  }
  const axes: Axis[] = []
  let isValid = true
  const complain = (origin: Origin, message: string, how = fix) => {
    report.problem(origin, { code: 'CONFIG_MATRIX', message, fix: how })
    isValid = false
  }
  for (const { key, at, value } of node.entries.values()) {
    const parsed = parsePath(key)
    if ('message' in parsed) complain(at, parsed.message)
    else if (value.type !== 'seq') complain(value.origin, 'an axis is a list of values')
    else if (value.items.length === 0)
      complain(value.origin, 'the axis has no values', 'give it at least one value, or remove it.')
    else axes.push(axisOf(key, parsed.path, at, value.items, complain))
  }
  for (const [inner, outer] of overlaps(axes)) {
    complain(inner.at, `the axis \`${inner.key}\` lies inside the axis \`${outer.key}\``, 'keep one of the two.')
  }
  const count = axes.reduce((product, axis) => product * axis.values.length, 1)
  if (count > maxArms)
    complain(node.origin, `the axes make ${count} arms, more than ${maxArms}`, 'shorten or remove axes.')
  return isValid ? axes : undefined
}

function axisOf(
  key: string,
  path: Path,
  at: Origin,
  items: readonly LocatedNode[],
  complain: (origin: Origin, message: string, fix: string) => void,
): Axis {
  const seen = new Map<string, LocatedNode>()
  const labels = new Set<string>()
  const values: AxisValue[] = []
  const axis: Axis = { key, path, at, values }
  for (const [i, node] of items.entries()) {
    const text = canonicalJson(toJs(node))
    const first = seen.get(text)
    if (first !== undefined) {
      const message = `the value stands in the axis already, at ${placeName(first.origin)}`
      complain(node.origin, message, 'remove one of them.')
      continue
    }
    seen.set(text, node)
    // Different values may look alike in a name, also to file systems that ignore case.
    const plain = valueLabel(toJs(node))
    const label = labels.has(plain.toLowerCase()) ? `${plain}-${i}` : plain
    labels.add(label.toLowerCase())
    values.push({ axis, node, label })
  }
  return axis
}

function overlaps(axes: readonly Axis[]): [inner: Axis, outer: Axis][] {
  const byPath = new Map(axes.map((axis) => [formatPath(axis.path), axis]))
  return axes.flatMap((axis): [Axis, Axis][] => {
    const same = byPath.get(formatPath(axis.path))
    const [outer] = [
      ...(same === axis ? [] : [same]),
      ...axis.path.map((_, i) => byPath.get(formatPath(axis.path.slice(0, i)))),
    ].filter((each) => each !== undefined)
    return outer === undefined ? [] : [[axis, outer]]
  })
}

function product(axes: readonly Axis[]): AxisValue[][] {
  return axes.reduce<AxisValue[][]>(
    (cells, axis) => cells.flatMap((cell) => axis.values.map((value) => [...cell, value])),
    [[]],
  )
}

function armOf(
  cell: readonly AxisValue[],
  base: LocatedMap,
  name: string,
  template: LocatedNode | undefined,
  checker: NodeChecker,
): Arm | undefined {
  let tree: LocatedNode = base
  for (const { axis, node } of cell) {
    const changed = withValueAt(tree, axis.path, node, axis.at)
    if ('obstacle' in changed) {
      const { at, reached } = changed.obstacle
      const what = at.type === 'seq' ? 'is a list without such an item' : 'is a plain value and holds no keys'
      const message = `the axis leads through \`${formatPath(reached)}\`, which ${what} (${placeName(at.origin)})`
      checker.report.problem(axis.at, { code: 'CONFIG_MATRIX', message, fix: 'correct the path of the axis.' })
      checkHead(base, axis.path, checker)
      return undefined
    }
    tree = changed.node
  }
  if (tree.type !== 'map') return undefined
  const nameAt = template?.origin ?? base.entries.get('name')?.value.origin ?? base.origin
  const named = cell.some(({ axis }) => axis.key === 'name') ? tree : withKey(tree, 'name', scalarNode(name, nameAt))
  const params = Object.fromEntries(cell.map(({ axis, node }) => [axis.key, toJs(node)]))
  return { name: textOf(named.entries.get('name')?.value) ?? name, nameAt, tree: named, params }
}

// What stands in the way may itself be the mistake.
function checkHead(base: LocatedMap, [head]: Path, checker: NodeChecker): void {
  const node = base.entries.get(String(head))?.value
  const field = Object.entries<z.ZodType>(PartialRun.shape).find(([key]) => key === head)?.[1]
  if (node !== undefined && field !== undefined) checker.check(field, node)
}

function armNamer(run: LocatedMap, axes: readonly Axis[], template: LocatedNode | undefined, report: Report) {
  const base = textOf(run.entries.get('name')?.value) ?? ''
  const text = textOf(template)
  if (text === undefined || template === undefined) return (cell: readonly AxisValue[]) => defaultName(base, cell)
  const known = ['base', ...axes.map(({ key }) => key)]
  const unknown = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, key = '']) => key).filter((key) => !known.includes(key))
  for (const key of unknown) {
    const message = `{${key}} is neither {base} nor an axis`
    report.problem(template.origin, { code: 'CONFIG_NAME', message, fix: suggest(key, known) })
  }
  if (unknown.length > 0) return undefined
  return (cell: readonly AxisValue[]) =>
    text.replaceAll(/\{([^{}]*)\}/g, (_, key) =>
      key === 'base' ? base : (cell.find(({ axis }) => axis.key === key)?.label ?? ''),
    )
}

function defaultName(base: string, cell: readonly AxisValue[]): string {
  if (cell.length === 0) return base
  return safeName(`${base}__${cell.map(({ axis, label }) => `${axis.path.at(-1)}${label}`).join('_')}`)
}

// Seeded replicates: every arm becomes `n_repeats` runs that differ in seed alone. A chain is repeated as a whole.
/** An arm that is valid. */
export interface CheckedArm extends Arm {
  readonly config: RunConfig
}

type Repeats = Pick<Experiment, 'n_repeats' | 'base_seed'>

/** A run before its hash is known. */
export interface RepeatedRun extends Omit<TrainingRun, 'config_hash'> {
  readonly tree: LocatedMap
}

/** The seeds of an arm: `base_seed`, or its own seed, and the numbers that follow. */
export function seedsOf(arm: CheckedArm, { n_repeats, base_seed }: Repeats): number[] {
  const first = base_seed ?? arm.config.seed
  return Array.from({ length: n_repeats }, (_, i) => first + i)
}

/** The runs of all arms, in the order in which they start. */
export function expandRepeats(arms: readonly CheckedArm[], repeats: Repeats): RepeatedRun[] {
  const isChain = arms.some((arm) => arm.stage !== undefined)
  const runsOf = (arm: CheckedArm) => seedsOf(arm, repeats).map((seed) => runOf(arm, seed, repeats))
  if (!isChain) return arms.flatMap(runsOf)
  const chains = Array.from({ length: repeats.n_repeats }, (): RepeatedRun[] => [])
  for (const arm of arms) {
    for (const [i, run] of runsOf(arm).entries()) {
      const before = arm.stage === undefined ? undefined : chains[i]?.findLast(({ stage }) => stage !== undefined)
      chains[i]?.push(withoutUndefined({ ...run, stage: arm.stage, after: before?.name }))
    }
  }
  return chains.flat()
}

function runOf(arm: CheckedArm, seed: number, { n_repeats }: Repeats): RepeatedRun {
  const name = n_repeats > 1 ? `${arm.name}__s${seed}` : arm.name
  const isTagged = n_repeats > 1 && arm.stage !== undefined
  const tags = isTagged ? [...arm.config.tags, `seed:${seed}`] : arm.config.tags
  return { name, arm: arm.name, seed, config: Object.freeze({ ...arm.config, name, seed, tags }), tree: arm.tree }
}
