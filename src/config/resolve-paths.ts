// Paths are relative to the file that wrote them, also when another file extends it. They are made absolute here; for hashes
// each has a second form, relative to the project, that does not change when the project moves.
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { changeAt, changeMap } from './edit-tree.ts'
import { type LocatedMap, type LocatedNode, nodeAt, scalarNode, textOf } from './located.ts'
import type { Report } from './report.ts'

export class PathResolver {
  readonly #project: string
  readonly #report: Report
  readonly #portable = new Map<string, string>()
  readonly #known = new WeakMap<LocatedNode, LocatedNode>()
  readonly #blocks = new WeakMap<LocatedMap, LocatedMap>()

  /** `project` is the folder that portable paths are relative to. In a data store, `path` is the store's business. */
  constructor(project: string, report: Report) {
    this.#project = project
    this.#report = report
  }

  /** The path as it reads wherever the project lies: what hashes are made of. */
  portable(path: string): string {
    return this.#portable.get(path) ?? path
  }

  /** A run with its paths made absolute. */
  run(run: LocatedMap): LocatedMap {
    const tree = changeMap(run, ['mix', '*'], (block) => this.#block(block))
    return this.#parts(this.#data(tree), ['model', 'algorithm', 'agent'])
  }

  /** The experiment with the folder of a data store of this machine made absolute. */
  store(root: LocatedMap): LocatedMap {
    return changeMap(root, ['data_store'], (store) => this.#store(store))
  }

  /** The rest of an experiment, benchmarks and datasets of chains included. */
  root(root: LocatedMap): LocatedMap {
    let tree = this.#parts(root, ['output_dir', 'plugins'])
    tree = changeMap(tree, ['metadata', 'benchmark', '*'], (item) => this.#data(this.#parts(item, ['path', 'agent'])))
    tree = changeMap(tree, ['continual', 'datasets', '*'], (block) => this.#block(block))
    return changeMap(tree, ['stages', 'stages', '*'], (item) => this.run(item))
  }

  // Arms share parts, and they stay shared: the same node gives the same result.
  #parts(map: LocatedMap, keys: readonly (keyof PathFields)[]): LocatedMap {
    return keys.reduce(
      (tree, key) =>
        changeAt(tree, [key], (part) => {
          const changed = this.#known.get(part) ?? this.#absolute(part, pathFields[key])
          this.#known.set(part, changed)
          return changed
        }),
      map,
    )
  }

  #data(map: LocatedMap): LocatedMap {
    return changeMap(map, ['data'], (block) => this.#block(block))
  }

  #block(block: LocatedMap): LocatedMap {
    const known = this.#blocks.get(block)
    if (known !== undefined) return known
    const fields: Fields = [[['hf_dataset'], isClearPath], ...(block.entries.has('store') ? [] : [ownPath])]
    const tree = changeMap(block, ['store'], (store) => this.#store(store))
    const changed = fields.reduce<LocatedMap>(
      (each, [path, isPath]) => changeAt(each, path, (node) => this.#scalar(node, isPath)),
      tree,
    )
    this.#blocks.set(block, changed)
    this.#blocks.set(changed, changed)
    return changed
  }

  #store(store: LocatedMap): LocatedMap {
    if (textOf(nodeAt(store, ['kind'])) !== 'local') return store
    return changeAt(store, ['params', 'root'], (node) => this.#scalar(node, isAnyPath))
  }

  #absolute(node: LocatedNode, fields: Fields): LocatedNode {
    return fields.reduce((tree, [path, isPath]) => changeAt(tree, path, (each) => this.#scalar(each, isPath)), node)
  }

  #scalar(node: LocatedNode, isPath: (text: string) => boolean): LocatedNode {
    const text = textOf(node)
    if (text === undefined || text === '' || isUrl(text) || !isPath(text)) return node
    if (text.includes('\0')) {
      const fix = 'remove it.'
      this.#report.problem(node.origin, { code: 'CONFIG_PATH', message: 'a path cannot hold a NUL character', fix })
      return node
    }
    const absolute = resolve(node.origin.source.dir, text)
    this.#remember(absolute, text)
    return scalarNode(absolute, node.origin)
  }

  #remember(absolute: string, written: string): void {
    const inProject = relative(this.#project, absolute)
    const isOutside = inProject === '..' || inProject.startsWith(`..${sep}`) || isAbsolute(inProject)
    // An absolute path out of the project means that very place; a relative one moves along.
    if (isOutside && isAbsolute(written)) {
      if (!this.#portable.has(absolute)) this.#portable.set(absolute, absolute)
    } else this.#portable.set(absolute, `./${inProject.replaceAll(sep, '/')}`)
  }
}

type PathFields = typeof pathFields
type Fields = readonly (readonly [path: readonly string[], isPath: (text: string) => boolean])[]

const ownPath: Fields[number] = [['path'], isAnyPath]

/** Where paths stand, by the key that they are under, and which texts there are paths. */
const pathFields = {
  model: ['name', 'load_checkpoint_path', 'init_from_checkpoint'].map((key) => [[key], isClearPath] as const),
  algorithm: [[['params', 'agent_import_path'], isDotted]],
  // Files that an agent brings: tools, a simulated user, the folder of an MCP server.
  agent: [
    [['params', 'user'], isDotted],
    [['params', 'tools', '*'], isDotted],
    [['params', 'path'], isAnswerFile],
    [['params', 'mcp_servers', '*', 'cwd'], isDotted],
  ],
  path: [[[], isAnyPath]],
  output_dir: [[[], isAnyPath]],
  plugins: [[['*'], isPluginFile]],
} satisfies Record<string, Fields>

/** Of answers of another system. */
function isAnswerFile(text: string): boolean {
  return /\.(csv|jsonl)$/i.test(text)
}

function isUrl(text: string): boolean {
  return /^[A-Za-z][\w+.-]+:\/\//.test(text)
}

function isAnyPath(): boolean {
  return true
}

/** A path where an id may stand too: it has to look like one. */
function isClearPath(text: string): boolean {
  return isDotted(text) || isAbsolute(text)
}

function isDotted(text: string): boolean {
  return /^\.{1,2}(?:[/\\]|$)/.test(text)
}

/** A file where a package may stand too. */
function isPluginFile(text: string): boolean {
  return isClearPath(text) || (/\.[cm]?[jt]s$/.test(text) && !text.startsWith('@'))
}
