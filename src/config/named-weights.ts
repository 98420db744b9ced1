// Weights that are named where an address of a checkpoint is asked for: a run, or EXPERIMENT/ARM, of the record. The address takes the
// place of the name before anything is hashed, so that the plan holds what was resolved. What the record is, is the caller's to know.
import { isAbsolute } from 'node:path'
import { armReference, type CheckpointKind } from '../contracts/index.ts'
import { problemsOf } from '../kernel/index.ts'
import { type LocatedEntry, type LocatedMap, type LocatedNode, nodeAt, seqNode, textOf } from './located.ts'
import type { Report } from './report.ts'

/**
 * The address of the selected checkpoint of a run, or EXPERIMENT/ARM, of the record of a project. Throws where there is none, or where it
 * belongs to another base model than `base`, if that is known.
 */
export type FindWeights = (name: string, kind: CheckpointKind, project: string, base?: string) => Promise<string>

interface Named {
  readonly project: string
  readonly find: FindWeights
  readonly report: Report
  readonly signal?: AbortSignal | undefined
}

/** The experiment with names of weights replaced, in runs, stages and axes. Names that lead nowhere are reported and stay. */
export async function resolveWeights(root: LocatedMap, { project, find, report, signal }: Named): Promise<LocatedMap> {
  const found = new Map<string, Promise<string>>()
  const address = async (
    node: LocatedNode,
    name: string,
    kind: CheckpointKind,
    base: string | undefined,
  ): Promise<LocatedNode> => {
    signal?.throwIfAborted()
    const key = `${kind} ${name} ${base ?? ''}`
    const asked = found.get(key) ?? find(name, kind, project, base)
    found.set(key, asked)
    try {
      return { type: 'scalar', origin: node.origin, value: await asked }
    } catch (error) {
      signal?.throwIfAborted()
      for (const { code, message, fix } of problemsOf(error)) report.problem(node.origin, { code, message, fix })
      return node
    }
  }
  // An axis may lay another model over the one that is written beside the checkpoint.
  const axes = nodeAt(root, ['matrix', 'axes'])
  const isModelKnown = axes?.type !== 'map' || ![...axes.entries.keys()].some((axis) => /^model(\.name)?$/.test(axis))
  const resolved = async <N extends LocatedNode>(node: N, path: string, base?: string): Promise<N | LocatedNode> => {
    if (node.type === 'seq') {
      const items: LocatedNode[] = []
      for (const item of node.items) items.push(await resolved(item, path, base))
      return items.every((item, i) => item === node.items[i]) ? node : seqNode(items, node.origin)
    }
    if (node.type === 'map') return await inside(node, path)
    const name = textOf(node)
    const kind = name !== undefined && isName(name) ? kindAt(path) : undefined
    return name === undefined || kind === undefined ? node : await address(node, name, kind, base)
  }
  const inside = async (map: LocatedMap, above: string): Promise<LocatedMap> => {
    const path = samplers.has(textOf(map.entries.get('kind')?.value) ?? '') ? `${above}:sampler` : above
    const base = isModelKnown && path.endsWith('.model') ? textOf(map.entries.get('name')?.value) : undefined
    let entries: Map<string, LocatedEntry> | undefined
    for (const [key, entry] of map.entries) {
      if (key === 'data') continue // rows are no configuration
      const value = await resolved(entry.value, `${path}.${key}`, base)
      if (value === entry.value) continue
      entries ??= new Map(map.entries)
      entries.set(key, { ...entry, value })
    }
    return entries === undefined ? map : { ...map, entries }
  }
  return await inside(root, '')
}

/** Weights to train further, or to sample from; undefined where no checkpoint is asked for. */
function kindAt(path: string): CheckpointKind | undefined {
  if (/\.model\.(init_from_checkpoint|load_checkpoint_path)$/.test(path)) return 'state'
  return /(\.teacher|:sampler(\.params)?)\.checkpoint$/.test(path) ? 'sampler' : undefined
}

/** Clients that draw from checkpoints. */
const samplers = new Set(['local', 'tinker'])

function isName(text: string): boolean {
  const isPath = isAbsolute(text) || /^\.{1,2}(?:[/\\]|$)/.test(text)
  return text !== '' && !isPath && !/^[A-Za-z][\w+.-]*:\/\//.test(text) && armReference(text) === undefined
}
