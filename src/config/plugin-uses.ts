// Every place of an experiment that names a plugin: its type, its kind, its params, and where both were written. Places in params
// are known by the marks of their schemas (`pluginReference`). Arms share nodes, so a place is listed once however many arms have it.
import type { ParamReference, PluginType } from '../contracts/index.ts'
import type { Catalog } from '../kernel/index.ts'
import { itemsOf, type LocatedMap, type LocatedNode, nodeAt, numberOf, type Origin, textOf } from './located.ts'

export interface PluginUse {
  readonly type: PluginType
  readonly kind: string
  readonly at: Origin
  readonly params: LocatedNode | undefined
  /** The mapping that would hold the params, and under which key, where they are not written. */
  readonly holder: LocatedNode
  /** Samples of a task that its benchmark takes: of a metric. */
  readonly numSamples?: number | undefined
}

/** Where a plugin is named, and how: by `{ kind, params }`, by a plain text, or as the source of a data block. */
interface Place {
  readonly type: PluginType
  readonly path: readonly string[]
  readonly form: ParamReference['form'] | 'data'
}

const runPlaces: readonly Place[] = [
  { type: 'algorithm', path: ['algorithm'], form: 'spec' },
  { type: 'backend', path: ['backend'], form: 'spec' },
  { type: 'agent', path: ['agent'], form: 'spec' },
  { type: 'environment', path: ['environment'], form: 'spec' },
  { type: 'data_source', path: ['data'], form: 'data' },
  { type: 'data_source', path: ['mix', '*'], form: 'data' },
  { type: 'renderer', path: ['model', 'renderer_name'], form: 'name' },
]
const benchmarkPlaces: readonly Place[] = [
  { type: 'metric', path: ['metrics', '*'], form: 'name' },
  { type: 'inference_client', path: ['inference'], form: 'spec' },
  { type: 'verifier', path: ['verifier'], form: 'spec' },
  { type: 'agent', path: ['agent'], form: 'spec' },
  { type: 'environment', path: ['environment'], form: 'spec' },
  { type: 'data_source', path: ['data'], form: 'data' },
]

/** The plugins that the runs and the experiment around them name, and those that these name in their params. */
export function pluginUses(root: LocatedMap, runs: Iterable<LocatedMap>, catalog: Pick<Catalog, 'card'>): PluginUse[] {
  const uses: PluginUse[] = []
  const seen = new Map<PluginType, Set<LocatedNode>>()
  const add = (within: LocatedNode | undefined, { type, path, form }: Place, numSamples?: number): void => {
    const known = seen.get(type) ?? new Set()
    seen.set(type, known)
    for (const node of placesAt(within, path)) {
      if (known.has(node)) continue
      known.add(node)
      if (form === 'data') add(node, { type: 'transform', path: ['transforms', '*'], form: 'spec' })
      if (form === 'data') add(node, { type: 'data_store', path: ['store'], form: 'spec' })
      if (form === 'data' && isStored(node)) continue
      const isNamed = form === 'name' && node.type !== 'map'
      const written = isNamed ? node : nodeAt(node, [form === 'data' ? 'source_kind' : 'kind'])
      const kind = textOf(written) ?? (form === 'data' ? 'jsonl' : undefined)
      if (kind === undefined) continue
      const params = isNamed ? undefined : nodeAt(node, ['params'])
      uses.push({ type, kind, at: written?.origin ?? node.origin, params, holder: node, numSamples })
      const references = isNamed ? undefined : catalog.card(type, kind)?.references
      for (const reference of references ?? []) add(params, reference)
    }
  }
  for (const run of runs) for (const place of runPlaces) add(run, place)
  add(root, { type: 'callback', path: ['callbacks', '*'], form: 'spec' })
  add(root, { type: 'log_store', path: ['log_store'], form: 'spec' })
  add(root, { type: 'data_store', path: ['data_store'], form: 'spec' })
  for (const benchmark of itemsOf(nodeAt(root, ['metadata', 'benchmark']))) {
    const numSamples = numberOf(nodeAt(benchmark, ['num_samples'])) ?? 1
    for (const place of benchmarkPlaces) add(benchmark, place, place.type === 'metric' ? numSamples : undefined)
  }
  return uses
}

/** Whether a data block names a stored dataset, which wins over its source. */
export function isStored(data: LocatedNode): boolean {
  return ['dataset_id', 'dataset_name'].some((key) => nodeAt(data, [key]) !== undefined)
}

/** The nodes that a path leads to; `*` leads to every item of a list and every value of a mapping. */
function placesAt(node: LocatedNode | undefined, path: readonly string[]): LocatedNode[] {
  const [step, ...rest] = path
  if (node === undefined) return []
  if (step === undefined) return [node]
  if (step !== '*') return placesAt(nodeAt(node, [step]), rest)
  const inside = node.type === 'map' ? Array.from(node.entries.values(), ({ value }) => value) : itemsOf(node)
  return inside.flatMap((each) => placesAt(each, rest))
}
