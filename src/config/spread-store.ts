// What a data block leaves to others: `data_store` of the experiment as the `store` of every block that reads a path and names none,
// and the source that the name of a file says. From then on a block says by itself where its rows come from, in runs, benchmarks
// and chains alike.
import { changeMap, withKey } from './edit-tree.ts'
import { impliedOrigin, type LocatedMap, nodeAt, scalarNode, textOf } from './located.ts'
import { isStored } from './plugin-uses.ts'

/** The experiment with store and source in the data blocks of benchmarks and chains. */
export function withStores(root: LocatedMap): LocatedMap {
  const places = [
    ['metadata', 'benchmark', '*', 'data'],
    ['continual', 'datasets', '*'],
    ['stages', 'stages', '*', 'data'],
  ]
  return places.reduce((tree, path) => changeMap(tree, path, (block) => complete(block, root)), root)
}

/** A run with the store of the experiment, and the source, in its data. */
export function withStore(run: LocatedMap, root: LocatedMap): LocatedMap {
  const places = [['data'], ['mix', '*']]
  return places.reduce((tree, path) => changeMap(tree, path, (block) => complete(block, root)), run)
}

const known = new WeakMap<LocatedMap, LocatedMap>() // arms share blocks, and they stay shared

function complete(block: LocatedMap, root: LocatedMap): LocatedMap {
  const path = nodeAt(block, ['path'])
  if (path === undefined || isStored(block)) return block
  const changed = known.get(block) ?? named(stored(block, root), textOf(path) ?? '')
  known.set(block, changed)
  return changed
}

function stored(block: LocatedMap, root: LocatedMap): LocatedMap {
  const store = nodeAt(root, ['data_store'])
  return store === undefined || block.entries.has('store') ? block : withKey(block, 'store', store)
}

// A file of JSON may hold lines or one list, so that its name does not say how it is read.
function named(block: LocatedMap, path: string): LocatedMap {
  const [, kind] = /\.(csv|parquet)$/i.exec(path) ?? []
  if (kind === undefined || block.entries.has('source_kind')) return block
  return withKey(block, 'source_kind', scalarNode(kind.toLowerCase(), impliedOrigin(block.origin, 'source_kind')))
}
