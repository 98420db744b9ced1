// `--set PATH=VALUE`: values laid over the file from the command line. A path into a run is meant for every arm; an axis of the
// same path gives way to it. The arguments are a separate source, one line each, in which errors are located.

import { formatPath, parsePath } from './dotted-path.ts'
import { putAt, withKey, withoutKey, withValueAt } from './edit-tree.ts'
import {
  isNull,
  itemsOf,
  type LocatedMap,
  type LocatedNode,
  nodeAt,
  type Origin,
  originAlong,
  type Path,
  type Source,
  type Span,
  seqNode,
  textOf,
} from './located.ts'
import { presentIn, shorthandKeys } from './normalise.ts'
import { parseYaml } from './parse-yaml.ts'
import { Report } from './report.ts'

const example = 'write --set algorithm.params.max_steps=20, in quotes where the shell would change it.'

/** The tree with every `PATH=VALUE` applied in order. It must be normalised before, and again after. */
export function applySets(root: LocatedMap, sets: readonly string[], cwd: string, report: Report): LocatedMap {
  const source: Source = { name: '--set', text: sets.join('\n'), dir: cwd, rank: Number.POSITIVE_INFINITY }
  report.addSource(source)
  let tree = root
  let start = 0
  for (const text of sets) {
    const parsed = readSet({ source, start, end: start + text.length }, report)
    if (parsed !== undefined) tree = applySet(tree, parsed, report)
    start += text.length + 1
  }
  return tree
}

interface Assignment {
  readonly path: Path
  readonly value: LocatedNode
  readonly at: Origin
}

function readSet({ source, start, end }: Span, report: Report): Assignment | undefined {
  const text = source.text.slice(start, end)
  const complain = (from: number, to: number, message: string) =>
    report.problemAt({ source, start: from, end: to }, { code: 'CONFIG_SET', message, fix: example })
  const equals = equalsSign(text)
  if (equals === -1) return complain(start, end, 'there is no = between a path and a value')
  const parsed = parsePath(text.slice(0, equals))
  if ('message' in parsed)
    return complain(start + parsed.offset, start + Math.max(equals, parsed.offset + 1), parsed.message)
  const key = { start, end: start + equals }
  const at = originAlong(parsed.path, { source, ...key })
  const hook = { key, parent: at.parent, step: at.step }
  const faults = new Report()
  const value = parseYaml(source, faults, { start: start + equals + 1, end, hook })
  // What is wrong with the value is wrong with the argument.
  for (const problem of faults.problems) report.add({ ...problem, code: 'CONFIG_SET' }, source)
  return value === undefined ? undefined : { path: parsed.path, value, at }
}

// The first `=` outside of quotes: keys may hold one.
function equalsSign(text: string): number {
  const match = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^"'\\=])*?=/su.exec(text)
  return match === null ? text.indexOf('=') : match[0].length - 1
}

const runKeys: readonly string[] = [...shorthandKeys, 'tags']

function applySet(root: LocatedMap, assignment: Assignment, report: Report): LocatedMap {
  const { path, at } = assignment
  const [head] = path
  if (head === 'extends') {
    const message = 'extends is followed before --set is applied'
    report.problem(at, { code: 'CONFIG_SET', message, fix: 'change the file, or set the values themselves.' })
    return root
  }
  const isForRuns = typeof head === 'string' && runKeys.includes(head)
  const targets = isForRuns ? [...runTargets(root, path), ...stageTargets(root, path)] : [spelledPath(root, path)]
  const axes = nodeAt(root, ['matrix', 'axes'])
  const tree = isForRuns && axes?.type === 'map' ? setAxes(root, axes, assignment, report) : root
  return targets.reduce((changed, target) => setAt(changed, target, assignment, report), tree)
}

function runTargets(root: LocatedMap, path: Path): Path[] {
  if (presentIn(root, 'matrix') !== undefined) return [['matrix', 'base_run', ...path]]
  const runs = presentIn(root, 'runs')
  if (runs?.type === 'seq') return runs.items.map((_, i) => ['runs', i, ...path])
  return [['run', ...path]]
}

// Stages are arms too: what they say for themselves would hide what is set in the run.
function stageTargets(root: LocatedMap, [head, ...rest]: Path): Path[] {
  const datasets = head === 'data' ? itemsOf(nodeAt(root, ['continual', 'datasets'])) : []
  const stages = itemsOf(nodeAt(root, ['stages', 'stages']))
  return [
    ...datasets.map((_, i) => ['continual', 'datasets', i, ...rest]),
    ...stages.flatMap((stage, i) =>
      head !== undefined && nodeAt(stage, [head]) !== undefined ? [['stages', 'stages', i, head, ...rest]] : [],
    ),
  ]
}

// Paths by the short forms that files have too, and list items by their name.
function spelledPath(root: LocatedMap, path: Path): Path {
  const [first, second, third, ...rest] = path
  if (first === 'base_run') return ['matrix', ...path]
  if (first === 'stages' && typeof second === 'number') return ['stages', ...path]
  if (first === 'matrix' && second === 'axes' && third !== undefined) {
    const isKnown = nodeAt(root, ['matrix', 'axes', third]) !== undefined
    return isKnown ? path : ['matrix', 'axes', [third, ...rest].map(String).join('.')]
  }
  const steps: (string | number)[] = []
  for (const step of path) {
    const named = itemsOf(nodeAt(root, steps)).findIndex((item) => textOf(nodeAt(item, ['name'])) === step)
    steps.push(named === -1 ? step : named)
  }
  return steps
}

function setAt(root: LocatedMap, target: Path, { path, value, at }: Assignment, report: Report): LocatedMap {
  const last = String(target.at(-1))
  const holder = nodeAt(root, target.slice(0, -1))
  if (isNull(value) && holder?.type === 'map' && holder.entries.has(last)) {
    return putAt(root, target.slice(0, -1), withoutKey(holder, last), at)
  }
  const changed = withValueAt(root, target, value, at)
  if ('node' in changed) return changed.node.type === 'map' ? changed.node : root
  const { at: obstacle, reached: steps } = changed.obstacle
  const reached = formatPath(steps)
  const isList = obstacle.type === 'seq'
  const message = isList
    ? `\`${reached}\` is a list of ${obstacle.items.length}, and ${JSON.stringify(target[steps.length])} is no item of it`
    : `\`${reached}\` is a plain value and holds no keys`
  const fix = isList
    ? 'items of a list are numbered from 0; benchmarks and runs also go by name.'
    : `set \`${reached}\` itself, or a path beside it.`
  report.problem(at, { code: 'CONFIG_SET', message: `cannot set \`${formatPath(path)}\`: ${message}`, fix })
  return root
}

// Axes are applied after the base run, and would undo what was set there.
function setAxes(root: LocatedMap, axes: LocatedMap, { path, value, at }: Assignment, report: Report): LocatedMap {
  let changed = axes
  for (const axis of axes.entries.values()) {
    const parsed = parsePath(axis.key)
    if ('message' in parsed) continue
    const complain = (message: string) =>
      report.problem(at, { code: 'CONFIG_SET', message, fix: `set \`${axis.key}\`, or remove the axis.` })
    const shared = sharedSteps(parsed.path, path)
    if (shared < parsed.path.length && shared < path.length) continue
    if (parsed.path.length === path.length) {
      changed = withKey(changed, axis.key, seqNode([value], value.origin), at)
    } else if (parsed.path.length > path.length) {
      complain(`the axis \`${axis.key}\` lies inside what is set`)
    } else if (axis.value.type === 'seq') {
      const items = axis.value.items.map((item) => {
        const inside = withValueAt(item, path.slice(shared), value, at)
        if ('node' in inside) return inside.node
        complain(`cannot set \`${formatPath(path)}\`: the axis \`${axis.key}\` has values that hold no keys`)
        return item
      })
      changed = withKey(changed, axis.key, seqNode(items, axis.value.origin))
    }
  }
  return putAt(root, ['matrix', 'axes'], changed, at)
}

function sharedSteps(a: Path, b: Path): number {
  let shared = 0
  while (shared < a.length && shared < b.length && String(a[shared]) === String(b[shared])) shared += 1
  return shared
}
