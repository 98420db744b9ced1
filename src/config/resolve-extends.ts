// `extends`: a file is laid over the files it names, each relative to the file that names it. Mappings merge, lists and plain
// values are replaced, `null` removes. A file that is reached twice is read once; a circle is an error that names the chain.
import { dirname, join, normalize, resolve } from 'node:path'
import { mergeNodes, withoutKey } from './edit-tree.ts'
import { isNull, type LocatedMap, type LocatedNode, type Origin, textOf } from './located.ts'
import { parseYaml } from './parse-yaml.ts'
import { readText } from './read-text.ts'
import type { Report } from './report.ts'
import type { Source } from './source.ts'

/** A document and where its file lies; `file` is absent for a mapping made in code. */
export interface Document {
  readonly root: LocatedMap
  readonly source: Source
  readonly file?: string
}

/** The tree of a document with all that it extends below it; undefined when the report says what is wrong. */
export async function resolveExtends(
  document: Document,
  report: Report,
  signal?: AbortSignal,
): Promise<LocatedMap | undefined> {
  const layers = new Layers(report, signal)
  const { source, file } = document
  const root = await layers.merged(document, file === undefined ? [] : [{ file, name: source.name }])
  return layers.isFaulty ? undefined : root
}

type Chain = readonly { readonly file: string; readonly name: string }[]

class Layers {
  isFaulty = false
  readonly #report: Report
  readonly #signal: AbortSignal | undefined
  readonly #known = new Map<string, LocatedMap | undefined>()
  #rank = 0

  constructor(report: Report, signal: AbortSignal | undefined) {
    this.#report = report
    this.#signal = signal
  }

  /** `chain` holds the files from the first down to this one. */
  async merged({ root, source }: Document, chain: Chain): Promise<LocatedMap> {
    const own = withoutKey(root, 'extends')
    let base: LocatedNode | undefined
    for (const name of this.#names(root)) {
      const layer = await this.#layer(name, source, chain)
      if (layer !== undefined) base = base === undefined ? layer : mergeNodes(base, layer)
    }
    source.rank = this.#rank++
    if (base === undefined) return own
    const merged = mergeNodes(base, own)
    return merged.type === 'map' ? merged : own
  }

  #names(root: LocatedMap): { text: string; origin: Origin }[] {
    const node = root.entries.get('extends')?.value
    if (node === undefined || isNull(node)) return []
    const items = node.type === 'seq' ? node.items : [node]
    if (items.length === 0) this.#fault(node.origin, 'the list is empty', 'name a file, or remove the line.')
    return items.flatMap((item) => {
      const text = textOf(item)
      if (text !== undefined && text !== '') return [{ text, origin: item.origin }]
      this.#fault(
        item.origin,
        'expected the name of a file',
        'write a path relative to this file, such as ../base.yaml.',
      )
      return []
    })
  }

  async #layer(
    { text, origin }: { text: string; origin: Origin },
    from: Source,
    chain: Chain,
  ): Promise<LocatedMap | undefined> {
    const file = resolve(from.dir, text)
    const first = chain.findIndex((each) => each.file === file)
    if (first !== -1) {
      const names = [...chain.slice(first), ...chain.slice(first, first + 1)].map((each) => each.name)
      this.#fault(origin, `the files extend each other in a circle: ${names.join(' -> ')}`, 'break the circle.')
      return undefined
    }
    if (this.#known.has(file)) return this.#known.get(file)
    const layer = await this.#read(file, nameBeside(from, text), origin, chain)
    this.#known.set(file, layer)
    return layer
  }

  async #read(file: string, name: string, origin: Origin, chain: Chain): Promise<LocatedMap | undefined> {
    const read = await readText(file, name, this.#signal)
    if ('problem' in read) {
      const { where, message, fix = 'correct the path, which is relative to this file.' } = read.problem
      if (where !== undefined) this.#report.add({ code: 'CONFIG_READ', ...read.problem })
      else this.#report.problem(origin, { code: 'CONFIG_EXTENDS', message, fix })
      this.isFaulty = true
      return undefined
    }
    const source: Source = { name, text: read.text, dir: dirname(file), rank: 0 }
    const root = parseYaml(source, this.#report)
    if (root === undefined) this.isFaulty = true
    if (root === undefined || isNull(root)) return undefined
    if (root.type !== 'map') {
      this.#report.problem(root.origin, {
        code: 'CONFIG_INVALID',
        message: 'the file holds no mapping',
        fix: 'write `key: value` lines.',
      })
      this.isFaulty = true
      return undefined
    }
    return await this.merged({ root, source, file }, [...chain, { file, name }])
  }

  #fault(origin: Origin, message: string, fix: string): void {
    this.#report.problem(origin, { code: 'CONFIG_EXTENDS', message, fix })
    this.isFaulty = true
  }
}

// Errors call files as the user would: relative to where the first name was relative to.
function nameBeside(from: Source, text: string): string {
  return resolve(text) === normalize(text) ? text : normalize(join(dirname(from.name), text))
}
