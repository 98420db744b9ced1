// Sweep values of a task take the type of the parameter they vary: YAML writers quote them, and `'1e-5'` is meant as a number
// where the parameter is one.
import { suggest } from '../kernel/index.ts'
import { withKey, withValueAt } from './edit-tree.ts'
import { maxArms } from './expand-matrix.ts'
import { type LocatedMap, type LocatedNode, nodeAt, scalarNode, seqNode } from './located.ts'
import type { Report } from './report.ts'

const config = ['sweeps', 'sweep_config'] as const

/** The task with its sweep values converted; what cannot be converted, and what varies no parameter, is reported. */
export function coerceSweeps(root: LocatedMap, report: Report): LocatedMap {
  const sweeps = nodeAt(root, config)
  if (sweeps?.type !== 'map') return root
  const parameters = root.entries.get('parameters')?.value
  const declared = parameters?.type === 'map' ? parameters.entries : new Map<string, { value: LocatedNode }>()
  let changed = sweeps
  let cells = 1
  for (const { key, at, value } of sweeps.entries.values()) {
    const parameter = declared.get(key)?.value
    if (parameter === undefined) {
      const message = `the sweep varies ${JSON.stringify(key)}, which is no parameter of the task`
      report.problem(at, { code: 'CONFIG_UNKNOWN_KEY', message, fix: suggest(key, [...declared.keys()]) })
    } else if (value.type === 'seq') {
      const items = value.items.map((item) => coerced(item, parameter, key, report))
      changed = withKey(changed, key, seqNode(items, value.origin))
      cells *= items.length
    }
  }
  if (cells > maxArms) {
    const message = `the sweep makes ${cells} jobs, more than ${maxArms}`
    report.problem(sweeps.origin, { code: 'CONFIG_MATRIX', message, fix: 'shorten or remove lists of values.' })
  }
  const result = withValueAt(root, config, changed, sweeps.origin)
  return 'node' in result && result.node.type === 'map' ? result.node : root
}

function coerced(item: LocatedNode, parameter: LocatedNode, key: string, report: Report): LocatedNode {
  const wanted = typeName(parameter)
  const found = typeName(item)
  if (wanted === found || wanted === 'null' || found === 'null') return item
  if (item.type === 'scalar') {
    const text = typeof item.value === 'string' ? item.value.trim() : writtenText(item)
    if (wanted === 'text') return scalarNode(text, item.origin)
    if (wanted === 'a number' && isNumber(text)) return scalarNode(Number(text), item.origin)
    if (wanted === 'true or false' && /^(?:true|false)$/i.test(text)) {
      return scalarNode(text.toLowerCase() === 'true', item.origin)
    }
  }
  const shown = item.type === 'scalar' ? JSON.stringify(item.value) : found
  const message = `expected ${wanted}, as the parameter ${JSON.stringify(key)} is, got ${shown}`
  const fix = 'give a value of that type, or declare the parameter with another default.'
  report.problem(item.origin, { code: 'CONFIG_INVALID', message, fix })
  return item
}

// YAML's numbers, of any sign; not `0x10` or `Infinity`, which Number() would take.
function isNumber(text: string): boolean {
  return /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text))
}

// A number that stands for text keeps its spelling: `1.0` is not `1`.
function writtenText({ origin }: LocatedNode): string {
  return origin.source.text.slice(origin.start, origin.end)
}

function typeName(node: LocatedNode): string {
  if (node.type === 'map') return 'a mapping'
  if (node.type === 'seq') return 'a list'
  if (node.value === null) return 'null'
  return { string: 'text', number: 'a number', boolean: 'true or false' }[
    typeof node.value as 'string' | 'number' | 'boolean'
  ]
}
