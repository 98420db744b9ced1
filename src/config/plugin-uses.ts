// Every place of an experiment that names a plugin: its type, its kind, its params, and where both were written. Places in params
// are known by the marks of their schemas (`pluginReference`). Arms share nodes, so a place is listed once however many arms have it.
import type { PluginType } from '../contracts/index.ts'
import type { Catalog } from '../kernel/index.ts'
import {
  isLocatedMap,
  itemsOf,
  type LocatedMap,
  type LocatedNode,
  nodeAt,
  type Origin,
  type Path,
  textOf,
} from './located.ts'

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

/** The plugins that the runs and the experiment around them name, and those that these name in their params. */
export function pluginUses(root: LocatedMap, runs: Iterable<LocatedMap>, catalog: Pick<Catalog, 'card'>): PluginUse[] {
  const uses = new UseList(catalog)
  for (const run of runs) {
    uses.spec('algorithm', nodeAt(run, ['algorithm']))
    uses.spec('backend', nodeAt(run, ['backend']))
    uses.spec('agent', nodeAt(run, ['agent']))
    uses.spec('environment', nodeAt(run, ['environment']))
    uses.data(nodeAt(run, ['data']))
    for (const data of itemsOf(nodeAt(run, ['mix']))) uses.data(data)
    uses.name('renderer', nodeAt(run, ['model', 'renderer_name']))
  }
  uses.specs('callback', nodeAt(root, ['callbacks']))
  for (const benchmark of itemsOf(nodeAt(root, ['metadata', 'benchmark']))) {
    uses.metrics(benchmark)
    uses.spec('inference_client', nodeAt(benchmark, ['inference']))
    uses.spec('verifier', nodeAt(benchmark, ['verifier']))
    uses.spec('agent', nodeAt(benchmark, ['agent']))
    uses.spec('environment', nodeAt(benchmark, ['environment']))
    uses.data(nodeAt(benchmark, ['data']))
  }
  return uses.all
}

/** Whether a data block names a stored dataset, which wins over its source. */
export function isStored(data: LocatedNode): boolean {
  return ['dataset_id', 'dataset_name'].some((key) => nodeAt(data, [key]) !== undefined)
}

class UseList {
  readonly all: PluginUse[] = []
  readonly #seen = new Map<PluginType, Set<LocatedNode>>()
  readonly #catalog: Pick<Catalog, 'card'>

  constructor(catalog: Pick<Catalog, 'card'>) {
    this.#catalog = catalog
  }

  specs(type: PluginType, list: LocatedNode | undefined): void {
    for (const item of itemsOf(list)) this.spec(type, item)
  }

  spec(type: PluginType, node: LocatedNode | undefined, fallback?: string): void {
    if (node === undefined || this.#isKnown(type, node)) return
    this.#add(type, node, ['kind'], fallback)
  }

  /** A plugin that is named by a plain text and takes no params. */
  name(type: PluginType, node: LocatedNode | undefined): void {
    const kind = textOf(node)
    if (node === undefined || kind === undefined || this.#isKnown(type, node)) return
    this.all.push({ type, kind, at: node.origin, params: undefined, holder: node })
  }

  data(node: LocatedNode | undefined): void {
    if (node === undefined || this.#isKnown('data_source', node)) return
    if (!isStored(node)) this.#add('data_source', node, ['source_kind'], 'jsonl')
    this.specs('transform', nodeAt(node, ['transforms']))
  }

  metrics(benchmark: LocatedNode): void {
    const samples = nodeAt(benchmark, ['num_samples'])
    const numSamples = samples?.type === 'scalar' && typeof samples.value === 'number' ? samples.value : 1
    for (const item of itemsOf(nodeAt(benchmark, ['metrics']))) {
      const kind = textOf(item)
      if (kind === undefined || this.#isKnown('metric', item)) continue
      this.all.push({ type: 'metric', kind, at: item.origin, params: undefined, holder: item, numSamples })
    }
  }

  #add(type: PluginType, node: LocatedNode, kindPath: Path, fallback?: string): void {
    const written = nodeAt(node, kindPath)
    const kind = textOf(written) ?? fallback
    if (kind === undefined) return
    const params = nodeAt(node, ['params'])
    this.all.push({ type, kind, at: written?.origin ?? node.origin, params, holder: node })
    for (const { path, type: named, form } of this.#catalog.card(type, kind)?.references ?? []) {
      for (const place of placesAt(params, path)) {
        if (form === 'name') this.name(named, place)
        else this.spec(named, place)
      }
    }
  }

  #isKnown(type: PluginType, node: LocatedNode): boolean {
    const seen = this.#seen.get(type) ?? new Set()
    this.#seen.set(type, seen)
    if (seen.has(node)) return true
    seen.add(node)
    return false
  }
}

/** The nodes that a path leads to; `*` leads to every item of a list and every value of a mapping. */
function placesAt(node: LocatedNode | undefined, path: readonly string[]): LocatedNode[] {
  const [step, ...rest] = path
  if (node === undefined) return []
  if (step === undefined) return [node]
  if (step !== '*') return placesAt(nodeAt(node, [step]), rest)
  const inside = isLocatedMap(node) ? Array.from(node.entries.values(), ({ value }) => value) : itemsOf(node)
  return inside.flatMap((each) => placesAt(each, rest))
}
