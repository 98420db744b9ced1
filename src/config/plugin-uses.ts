// Every place of an experiment that names a plugin: its type, its kind, its params, and where both were written. Arms share
// nodes, so a place is listed once however many arms have it.
import type { PluginType } from '../contracts/index.ts'
import { type LocatedMap, type LocatedNode, nodeAt, type Origin, type Path, textOf } from './located.ts'

export interface PluginUse {
  readonly type: PluginType
  readonly kind: string
  /** Where the kind was written. */
  readonly at: Origin
  readonly params: LocatedNode | undefined
  /** The mapping that would hold the params, and under which key, where they are not written. */
  readonly holder: LocatedNode
  /** Samples of a task that its benchmark takes: of a metric. */
  readonly numSamples?: number
}

/** The plugins that the runs and the experiment around them name. */
export function pluginUses(root: LocatedMap, runs: Iterable<LocatedMap>): PluginUse[] {
  const uses = new UseList()
  for (const run of runs) {
    uses.spec('algorithm', nodeAt(run, ['algorithm']))
    uses.spec('backend', nodeAt(run, ['backend']))
    uses.spec('agent', nodeAt(run, ['agent']))
    uses.spec('environment', nodeAt(run, ['environment']))
    uses.data(nodeAt(run, ['data']))
    for (const data of itemsOf(nodeAt(run, ['mix']))) uses.data(data)
    uses.specs('algorithm', nodeAt(run, ['algorithm', 'params', 'phases']))
    uses.specs('callback', nodeAt(run, ['algorithm', 'params', 'callbacks']))
    uses.spec('verifier', nodeAt(run, ['algorithm', 'params', 'held_out_verifier']))
    uses.spec('inference_client', nodeAt(run, ['algorithm', 'params', 'teacher', 'client']))
    uses.name('verifier', nodeAt(run, ['algorithm', 'params', 'verifier_name']))
    uses.name('renderer', nodeAt(run, ['model', 'renderer_name']))
    uses.name('renderer', nodeAt(run, ['algorithm', 'params', 'renderer_name']))
  }
  uses.specs('callback', nodeAt(root, ['callbacks']))
  uses.spec('data_store', nodeAt(root, ['data_store']))
  uses.spec('log_store', nodeAt(root, ['log_store']))
  uses.spec('deployer', nodeAt(root, ['deploy']))
  uses.spec('provider', nodeAt(root, ['compute']), 'local')
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

export function itemsOf(node: LocatedNode | undefined): readonly LocatedNode[] {
  return node?.type === 'seq' ? node.items : []
}

class UseList {
  readonly all: PluginUse[] = []
  readonly #seen = new Map<PluginType, Set<LocatedNode>>()

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
    this.all.push({ type, kind, at: written?.origin ?? node.origin, params: nodeAt(node, ['params']), holder: node })
  }

  #isKnown(type: PluginType, node: LocatedNode): boolean {
    const seen = this.#seen.get(type) ?? new Set()
    this.#seen.set(type, seen)
    if (seen.has(node)) return true
    seen.add(node)
    return false
  }
}
