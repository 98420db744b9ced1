// `extends`: a file is laid over the files it names, each relative to the file that names it. Mappings merge, lists and plain
// values are replaced, `null` removes. A file that is reached twice is read once; a circle is an error that names the chain.

import { isUtf8 } from 'node:buffer'
import { constants, open } from 'node:fs/promises'
import { dirname, join, normalize, resolve } from 'node:path'
import { fileError, type Problem } from '../kernel/index.ts'
import { mergeNodes, withoutKey } from './edit-tree.ts'
import { isNull, type LocatedMap, type LocatedNode, type Origin, type Source, textOf } from './located.ts'
import { maxLength, parseYaml } from './parse-yaml.ts'
import type { Report } from './report.ts'

/** A document and where its file lies; `file` is absent for a mapping made in code. */
export interface Document {
  readonly root: LocatedMap
  readonly source: Source
  readonly file?: string | undefined
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
      const { where, message } = read.problem
      const fix = 'correct the path: it is relative to the file that it is written in.'
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
      const message = 'the file holds no mapping'
      const fix = 'write `key: value` lines.'
      this.#report.problem(root.origin, { code: 'CONFIG_INVALID', message, fix })
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

// Reads a file that a person named. It may be missing, a folder, a device without end, huge, or no text at all.
type ReadText = { text: string } | { problem: Pick<Problem, 'message' | 'fix' | 'where' | 'excerpt'> }

/** The text of a UTF-8 file, without its byte order mark; or what is wrong with it. `name` is what errors call it. */
export async function readText(path: string, name: string, signal?: AbortSignal): Promise<ReadText> {
  let bytes: Buffer
  try {
    // Not blocking: opening a pipe without a writer would wait for ever.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    const limit = maxLength * 4 // bytes of the longest text that is read
    if (found.size > limit) {
      return {
        problem: {
          message: `${name} has ${found.size} bytes, more than ${limit}`,
          fix: 'put data rows into a file of their own.',
        },
      }
    }
    bytes = await file.readFile(signal === undefined ? {} : { signal })
  } catch (cause) {
    signal?.throwIfAborted()
    const { message, fix } = fileError('read', name, cause)
    return { problem: { message, fix } }
  }
  return isUtf8(bytes) ? { text: bytes.toString('utf8').replace(/^\uFEFF/, '') } : { problem: notUtf8(bytes, name) }
}

function notUtf8(bytes: Buffer, name: string): Extract<ReadText, { problem: unknown }>['problem'] {
  const isUtf16 = bytes[0] === 0xff ? bytes[1] === 0xfe : bytes[0] === 0xfe && bytes[1] === 0xff
  if (isUtf16)
    return { message: `${name} is UTF-16 text`, fix: 'save the file as UTF-8.', where: { file: name, line: 1, col: 1 } }
  let line = 1
  let start = 0
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start)
    const stop = newline === -1 ? bytes.length : newline
    const content = bytes.subarray(start, stop)
    if (!isUtf8(content)) return { ...badLine(content, line, name) }
    start = stop + 1
    line += 1
  }
  return { message: `${name} is not UTF-8 text`, fix: 'save the file as UTF-8.' }
}

function badLine(content: Buffer, line: number, name: string) {
  const text = content.toString('utf8')
  const again = Buffer.from(text) // bytes that are no text have become U+FFFD: the first difference is the first of them
  const valid = content.findIndex((byte, i) => byte !== again[i])
  const col = content.subarray(0, Math.max(0, valid)).toString('utf8').length + 1
  return {
    message: 'this line is not UTF-8 text',
    fix: 'save the file as UTF-8.',
    where: { file: name, line, col },
    excerpt: { text, line, col, length: 1 },
  }
}
