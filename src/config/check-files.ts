// Paths of an experiment before anything starts: what has to be there is there, is a file where a file is needed, and its first
// row can be read.

import { Buffer } from 'node:buffer'
import { constants, open, stat, statfs } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import type { Row } from '../contracts/index.ts'
import { fileError, isMapping } from '../kernel/index.ts'
import { type LocatedMap, type LocatedNode, nodeAt, textOf } from './located.ts'
import { isStored } from './plugin-uses.ts'
import type { Report } from './report.ts'

export interface FileContext {
  readonly report: Report
  readonly signal: AbortSignal
  /** What errors call a path. */
  readonly shown: (path: string) => string
}

/** Checks the file of a data block and reads its first row; undefined where there is none to read. */
export async function checkDataFile(data: LocatedNode, context: FileContext): Promise<Row | undefined> {
  if (isStored(data) || nodeAt(data, ['store']) !== undefined) return undefined // a store is asked when it is read
  const kind = textOf(nodeAt(data, ['source_kind'])) ?? 'jsonl'
  if (kind === 'in_memory') return rowOf(nodeAt(data, ['rows', 0]))
  const node = nodeAt(data, [kind === 'hf_dataset' ? 'hf_dataset' : 'path'])
  const needed = ['hf_dataset', 'folder', 'harbor'].includes(kind) ? 'folder' : 'file'
  const isBuiltIn = needed === 'folder' || ['csv', 'parquet', 'jsonl', 'json'].includes(kind)
  const path = textOf(node)
  if (!isBuiltIn || !(await checkPath(node, needed, context)) || node === undefined || path === undefined) {
    return undefined
  }
  try {
    if (kind === 'jsonl') return await firstLine(path, context)
    if (kind === 'json') await checkList(path, context)
  } catch (cause) {
    context.signal.throwIfAborted()
    const { message, fix } = fileError('read', context.shown(path), cause)
    context.report.problem(node.origin, { code: 'CONFIG_PATH', message, fix })
  }
  return undefined
}

/** Checks what a model starts from, where that is a path. */
export async function checkModelFiles(model: LocatedNode, context: FileContext): Promise<void> {
  for (const key of ['name', 'load_checkpoint_path', 'init_from_checkpoint']) {
    await checkPath(nodeAt(model, [key]), 'anything', context)
  }
}

export async function checkOutput(root: LocatedMap, context: FileContext): Promise<void> {
  const node = nodeAt(root, ['output_dir'])
  const path = textOf(node)
  if (node === undefined || path === undefined) return
  const { place, isFolder } = await nearestThere(path) // what is not there yet will be made
  if (isFolder && !(await isOfTheSystem(place))) return
  const at = context.shown(place)
  const why = isFolder ? `${at} is kept by the system, which makes no folders there` : `${at} is no folder`
  const message = place === path ? why : `${context.shown(path)} cannot be made: ${why}`
  const fix = 'name a folder; it is made when it is missing.'
  context.report.problem(node.origin, { code: 'CONFIG_PATH', message, fix })
}

/** The nearest thing on a path that is there. */
async function nearestThere(path: string): Promise<{ place: string; isFolder: boolean }> {
  const found = await stat(path).catch(() => undefined)
  if (found !== undefined || dirname(path) === path) return { place: path, isFolder: found?.isDirectory() ?? true }
  return nearestThere(dirname(path))
}

/** What Linux calls proc and sysfs. Node would try for ever to make a folder there. */
const systemKinds = [0x9fa0, 0x62656572]

async function isOfTheSystem(folder: string): Promise<boolean> {
  const kind = await statfs(folder).catch(() => undefined)
  return kind !== undefined && process.platform === 'linux' && systemKinds.includes(kind.type)
}

/** Whether a path leads to what is needed; reports it when not. Ids, which look like no path, are let through. */
export async function checkPath(
  node: LocatedNode | undefined,
  needed: 'file' | 'folder' | 'anything',
  { report, shown, signal }: FileContext,
): Promise<boolean> {
  const path = textOf(node)
  if (node === undefined || path === undefined || !isAbsolute(path)) return false
  signal.throwIfAborted()
  const complain = (message: string, fix: string) => {
    report.problem(node.origin, { code: 'CONFIG_PATH', message, fix })
    return false
  }
  try {
    const found = await stat(path)
    if (needed === 'file' && !found.isFile()) {
      return complain(`${shown(path)} is ${found.isDirectory() ? 'a folder' : 'no regular file'}`, 'name a file.')
    }
    if (needed === 'folder' && !found.isDirectory()) return complain(`${shown(path)} is no folder`, 'name the folder.')
    return true
  } catch (cause) {
    const { message } = fileError('read', shown(path), cause)
    return complain(message, 'correct the path: it is relative to the file that it is written in.')
  }
}

function rowOf(node: LocatedNode | undefined): Row | undefined {
  if (node?.type !== 'map') return undefined
  return Object.fromEntries([...node.entries.keys()].map((key) => [key, true])) // the keys show the shape
}

async function firstLine(path: string, { report, signal, shown }: FileContext): Promise<Row | undefined> {
  const add = (line: number, message: string, fix: string): undefined =>
    report.add({ code: 'DATA_INVALID', message, where: { file: shown(path), line, col: 1 }, fix })
  for await (const { line, result } of readJsonLines(path, signal)) {
    if ('fault' in result) return add(line, result.fault, 'write one JSON object per line.')
    if (isMapping(result.value)) return result.value
    return add(line, 'the row is no JSON object', 'write one JSON object per line: {"text": "..."}.')
  }
  return add(1, 'the file holds no rows', 'write one JSON object per line.')
}

// The list may be large; its first character shows the usual mistake, JSON Lines under another name.
async function checkList(path: string, { report, shown }: FileContext): Promise<void> {
  await using file = await open(path, 'r')
  const { bytesRead, buffer } = await file.read(Buffer.alloc(4096), 0, 4096, 0)
  const text = buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '')
  if (text.trimStart().startsWith('[')) return
  const message = 'the file does not start with a list'
  const fix = 'write a list of objects, [{...}, {...}]; one object per line is source_kind: jsonl.'
  report.add({ code: 'DATA_INVALID', message, where: { file: shown(path), line: 1, col: 1 }, fix })
}

// The lines of a JSON Lines file, for checks before anything starts. It streams, and knows the shape of nothing: what a row
// should be is for its caller.
export interface JsonLine {
  /** 1-based. */
  readonly line: number
  /** The parsed value, or why there is none. */
  readonly result: { readonly value: unknown } | { readonly fault: string }
}

const chunkBytes = 256 * 1024
/** A line longer than this is not looked into, nor what follows it. */
const longestBytes = 64 * 1024 * 1024

/** Lines that are not blank, to the first that is too long. Throws what the file system throws. */
export async function* readJsonLines(path: string, signal: AbortSignal): AsyncGenerator<JsonLine> {
  // Not blocking: opening a pipe without a writer would wait for ever.
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await file.stat()
  if (!found.isFile()) throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'ENXIO' })
  let carried: Buffer[] = []
  let carriedBytes = 0
  let line = 1
  const take = (part: Buffer): JsonLine['result'] | undefined => {
    const bytes = Buffer.concat([...carried, part])
    carried = []
    carriedBytes = 0
    const text = (line === 1 && bytes[0] === 0xef ? bytes.subarray(3) : bytes).toString('utf8')
    return text.trim() === '' ? undefined : parsed(text)
  }
  const buffer = Buffer.allocUnsafe(chunkBytes)
  while (true) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) break
    let start = 0
    for (let end = buffer.indexOf(0x0a); end !== -1 && end < bytesRead; end = buffer.indexOf(0x0a, start)) {
      const result = take(buffer.subarray(start, end))
      start = end + 1
      if (result !== undefined) yield { line, result }
      line += 1
    }
    carriedBytes += bytesRead - start
    carried.push(Buffer.from(buffer.subarray(start, bytesRead)))
    if (carriedBytes <= longestBytes) continue
    // The end of it is not looked for: there may be gigabytes before it.
    yield { line, result: { fault: `the line is longer than ${longestBytes} bytes` } }
    return
  }
  const last = carriedBytes === 0 ? undefined : take(Buffer.alloc(0))
  if (last !== undefined) yield { line, result: last }
}

function parsed(text: string): JsonLine['result'] {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { fault: 'the line is not valid JSON' }
  }
}
