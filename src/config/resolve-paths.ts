// Paths are relative to the file that wrote them, also when another file extends it. They are made absolute here; for hashes
// each has a second form, relative to the project, that does not change when the project moves.
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { withKey, withValueAt } from './edit-tree.ts'
import { type LocatedMap, type LocatedNode, nodeAt, type Path, scalarNode, seqNode, textOf } from './located.ts'
import type { Report } from './report.ts'

export class PathResolver {
  readonly #project: string
  readonly #report: Report
  readonly #portable = new Map<string, string>()
  readonly #known = new WeakMap<LocatedNode, LocatedNode>()

  /** `project` is the folder that portable paths are relative to. */
  constructor(project: string, report: Report) {
    this.#project = project
    this.#report = report
  }

  /** The path as it reads wherever the project lies: what hashes are made of. */
  portable(path: string): string {
    return this.#portable.get(path) ?? path
  }

  /** A run with its paths made absolute. With a data store, `data.path` is the store's business. */
  run(run: LocatedMap, { hasStore }: { hasStore: boolean }): LocatedMap {
    let tree = run
    for (const [key, change] of Object.entries(this.#runParts(hasStore))) {
      const part = tree.entries.get(key)?.value
      if (part !== undefined) tree = this.#replace(tree, key, part, change)
    }
    return tree
  }

  /** The rest of an experiment, benchmarks and datasets of chains included. */
  root(root: LocatedMap, { hasStore }: { hasStore: boolean }): LocatedMap {
    let tree = this.#field(root, ['output_dir'], isAnyPath)
    tree = this.#each(tree, ['plugins'], (item) => this.#scalar(item, isPluginFile))
    tree = this.#each(tree, ['metadata', 'benchmark'], (item) => {
      if (item.type !== 'map') return item
      const pathed = this.#field(item, ['path'], isAnyPath)
      const agent = pathed.entries.get('agent')?.value
      const entry = agent === undefined ? pathed : this.#replace(pathed, 'agent', agent, (each) => this.#agent(each))
      const data = entry.entries.get('data')?.value
      return data === undefined ? entry : this.#replace(entry, 'data', data, (each) => this.#data(each, hasStore))
    })
    tree = this.#each(tree, ['continual', 'datasets'], (item) => this.#data(item, hasStore))
    return this.#each(tree, ['stages', 'stages'], (item) => (item.type === 'map' ? this.run(item, { hasStore }) : item))
  }

  #runParts(hasStore: boolean): Record<string, (node: LocatedNode) => LocatedNode> {
    return {
      data: (node) => this.#data(node, hasStore),
      mix: (node) =>
        node.type === 'seq'
          ? seqNode(
              node.items.map((item) => this.#data(item, hasStore)),
              node.origin,
            )
          : node,
      model: (node) => this.#model(node),
      algorithm: (node) => this.#field(node, ['params', 'agent_import_path'], isDotted),
      agent: (node) => this.#agent(node),
    }
  }

  #data(node: LocatedNode, hasStore: boolean): LocatedNode {
    const data = hasStore ? node : this.#field(node, ['path'], isAnyPath)
    return this.#field(data, ['hf_dataset'], isClearPath)
  }

  // Files that an agent brings: tools, a simulated user, the folder of an MCP server.
  #agent(node: LocatedNode): LocatedNode {
    if (node.type !== 'map') return node
    let tree = this.#field(node, ['params', 'user'], isDotted)
    tree = this.#each(tree, ['params', 'tools'], (item) => this.#scalar(item, isDotted))
    return this.#each(tree, ['params', 'mcp_servers'], (item) => this.#field(item, ['cwd'], isDotted))
  }

  #model(node: LocatedNode): LocatedNode {
    const fields = ['name', 'load_checkpoint_path', 'init_from_checkpoint']
    return fields.reduce((model, field) => this.#field(model, [field], isClearPath), node)
  }

  // Shared parts stay shared: the same node gives the same result.
  #replace(map: LocatedMap, key: string, node: LocatedNode, change: (node: LocatedNode) => LocatedNode): LocatedMap {
    const changed = this.#known.get(node) ?? change(node)
    this.#known.set(node, changed)
    return changed === node ? map : withKey(map, key, changed)
  }

  #each(root: LocatedMap, path: Path, change: (item: LocatedNode) => LocatedNode): LocatedMap {
    const list = nodeAt(root, path)
    if (list?.type !== 'seq') return root
    return this.#put(root, path, seqNode(list.items.map(change), list.origin))
  }

  #field<N extends LocatedNode>(node: N, path: Path, isPath: (text: string) => boolean): N
  #field(node: LocatedNode, path: Path, isPath: (text: string) => boolean): LocatedNode {
    const field = nodeAt(node, path)
    const changed = field === undefined ? undefined : this.#scalar(field, isPath)
    return changed === undefined || changed === field ? node : this.#put(node, path, changed)
  }

  #put<N extends LocatedNode>(root: N, path: Path, value: LocatedNode): N
  #put(root: LocatedNode, path: Path, value: LocatedNode): LocatedNode {
    const changed = withValueAt(root, path, value, value.origin)
    return 'node' in changed ? changed.node : root
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
