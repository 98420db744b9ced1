// `data_store` of an experiment as the `store` of every data block that reads a path and names none: from then on a block says by
// itself where its rows come from, in runs, benchmarks and chains alike.
import { changeMap, withKey } from './edit-tree.ts'
import { type LocatedMap, nodeAt } from './located.ts'
import { isStored } from './plugin-uses.ts'

/** The experiment with the store in the data blocks of benchmarks and chains. */
export function withStores(root: LocatedMap): LocatedMap {
  const places = [
    ['metadata', 'benchmark', '*', 'data'],
    ['continual', 'datasets', '*'],
    ['stages', 'stages', '*', 'data'],
  ]
  return places.reduce((tree, path) => changeMap(tree, path, (block) => stored(block, root)), root)
}

/** A run with the store of the experiment in its data. */
export function withStore(run: LocatedMap, root: LocatedMap): LocatedMap {
  const places = [['data'], ['mix', '*']]
  return places.reduce((tree, path) => changeMap(tree, path, (block) => stored(block, root)), run)
}

const known = new WeakMap<LocatedMap, LocatedMap>() // arms share blocks, and they stay shared

function stored(block: LocatedMap, root: LocatedMap): LocatedMap {
  const store = nodeAt(root, ['data_store'])
  const isRead = nodeAt(block, ['path']) !== undefined && !isStored(block)
  if (store === undefined || !isRead || block.entries.has('store')) return block
  const changed = known.get(block) ?? withKey(block, 'store', store)
  known.set(block, changed)
  return changed
}
