// `extends`: a file is laid over the files it names, each relative to the file that names it. Mappings merge, lists and plain
// values are replaced, `null` removes. A file that is reached twice is read once; a circle is an error that names the chain.

import { isUtf8 } from 'node:buffer'
import { constants, open } from 'node:fs/promises'
import { dirname, join, normalize, resolve } from 'node:path'
import type { ErrorCode } from '../contracts/index.ts'
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

type Chain = readonly { readonly file: string; readonly name: string }[]

/** The tree of a document with all that it extends below it; undefined when the report says what is wrong. */
export async function resolveExtends(
  document: Document,
  report: Report,
  signal?: AbortSignal,
): Promise<LocatedMap | undefined> {
  const known = new Map<string, LocatedMap | undefined>()
  let isFaulty = false
  let rank = 0
  const fault = (origin: Origin, message: string, fix: string, code: ErrorCode = 'CONFIG_EXTENDS'): undefined => {
    isFaulty = true
    return report.problem(origin, { code, message, fix })
  }

  /** `chain` holds the files from the first down to this one. */
  const merged = async ({ root, source }: Document, chain: Chain): Promise<LocatedMap> => {
    const own = withoutKey(root, 'extends')
    let base: LocatedNode | undefined
    for (const node of named(root)) {
      const layer = await layerOf(node, source, chain)
      if (layer !== undefined) base = base === undefined ? layer : mergeNodes(base, layer)
    }
    source.rank = rank++
    const all = base === undefined ? own : mergeNodes(base, own)
    return all.type === 'map' ? all : own
  }

  const named = (root: LocatedMap): readonly LocatedNode[] => {
    const node = root.entries.get('extends')?.value
    if (node === undefined || isNull(node)) return []
    const items = node.type === 'seq' ? node.items : [node]
    if (items.length === 0) fault(node.origin, 'the list is empty', 'name a file, or remove the line.')
    return items
  }

  const layerOf = async (node: LocatedNode, from: Source, chain: Chain): Promise<LocatedMap | undefined> => {
    const { origin } = node
    const text = textOf(node)
    if (text === undefined || text === '') {
      const fix = 'write a path relative to this file, such as ../base.yaml.'
      return fault(origin, 'expected the name of a file', fix)
    }
    const file = resolve(from.dir, text)
    const first = chain.findIndex((each) => each.file === file)
    if (first !== -1) {
      const names = [...chain.slice(first), ...chain.slice(first, first + 1)].map((each) => each.name)
      return fault(origin, `the files extend each other in a circle: ${names.join(' -> ')}`, 'break the circle.')
    }
    if (!known.has(file)) known.set(file, await read(file, nameBeside(from, text), origin, chain))
    return known.get(file)
  }

  const read = async (file: string, name: string, origin: Origin, chain: Chain): Promise<LocatedMap | undefined> => {
    const found = await readText(file, name, signal)
    if ('problem' in found) {
      const fix = 'correct the path: it is relative to the file that it is written in.'
      if (found.problem.where === undefined) return fault(origin, found.problem.message, fix)
      isFaulty = true
      return report.add({ code: 'CONFIG_READ', ...found.problem })
    }
    const source: Source = { name, text: found.text, dir: dirname(file), rank: 0 }
    const root = parseYaml(source, report)
    if (root === undefined) isFaulty = true
    if (root === undefined || isNull(root)) return undefined
    if (root.type !== 'map') {
      return fault(root.origin, 'the file holds no mapping', 'write `key: value` lines.', 'CONFIG_INVALID')
    }
    return await merged({ root, source, file }, [...chain, { file, name }])
  }

  const { source, file } = document
  const root = await merged(document, file === undefined ? [] : [{ file, name: source.name }])
  return isFaulty ? undefined : root
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
      const message = `${name} has ${found.size} bytes, more than ${limit}`
      return { problem: { message, fix: 'put data rows into a separate file.' } }
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
    if (!isUtf8(content)) return badLine(content, line, name)
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
