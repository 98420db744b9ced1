// Paths of an experiment before anything starts: what has to be there is there, is a file where a file is needed, and its first
// row can be read.
import { open, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Row } from '../contracts/index.ts'
import { fileError } from '../kernel/index.ts'
import { type LocatedMap, type LocatedNode, nodeAt, textOf } from './located.ts'
import { isStored } from './plugin-uses.ts'
import { readJsonLines } from './read-json-lines.ts'
import type { Report } from './report.ts'

export interface FileContext {
  readonly report: Report
  readonly signal: AbortSignal
  /** What errors call a path. */
  readonly shown: (path: string) => string
}

/** Checks the file of a data block and reads its first row; undefined where there is none to read. */
export async function checkDataFile(data: LocatedNode, context: FileContext): Promise<Row | undefined> {
  if (isStored(data)) return undefined
  const kind = textOf(nodeAt(data, ['source_kind'])) ?? 'jsonl'
  if (kind === 'in_memory') return rowOf(nodeAt(data, ['rows', 0]))
  if (kind === 'hf_dataset') {
    await checkPath(nodeAt(data, ['hf_dataset']), 'folder', context)
    return undefined
  }
  const path = nodeAt(data, ['path'])
  if (kind === 'folder' || kind === 'harbor' || kind === 'csv' || kind === 'parquet') {
    await checkPath(path, kind === 'folder' || kind === 'harbor' ? 'folder' : 'file', context)
    return undefined
  }
  if ((kind !== 'jsonl' && kind !== 'json') || !(await checkPath(path, 'file', context))) return undefined
  return kind === 'jsonl' ? await firstLine(path, context) : await checkList(path, context)
}

/** Checks what a model starts from, where that is a path. */
export async function checkModelFiles(model: LocatedNode, context: FileContext): Promise<void> {
  for (const key of ['name', 'load_checkpoint_path', 'init_from_checkpoint']) {
    await checkPath(nodeAt(model, [key]), 'anything', context)
  }
}

/** Checks that results can be written where the experiment says. */
export async function checkOutput(root: LocatedMap, context: FileContext): Promise<void> {
  const node = nodeAt(root, ['output_dir'])
  const path = textOf(node)
  if (node === undefined || path === undefined) return
  const found = await stat(path).catch(() => undefined) // what is not there yet will be made
  if (found === undefined || found.isDirectory()) return
  const message = `${context.shown(path)} is no folder`
  context.report.problem(node.origin, {
    code: 'CONFIG_PATH',
    message,
    fix: 'name a folder; it is made when it is missing.',
  })
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
  return Object.fromEntries([...node.entries.keys()].map((key) => [key, true])) // the keys tell the shape
}

async function firstLine(
  node: LocatedNode | undefined,
  { report, signal, shown }: FileContext,
): Promise<Row | undefined> {
  const path = textOf(node) ?? ''
  const add = (line: number, message: string, fix: string) => {
    report.add({ code: 'DATA_INVALID', message, where: { file: shown(path), line, col: 1 }, fix })
    return undefined
  }
  try {
    for await (const { line, result } of readJsonLines(path, signal)) {
      if ('fault' in result) return add(line, result.fault, 'write one JSON object per line.')
      if (isRow(result.value)) return result.value
      return add(line, 'the row is no JSON object', 'write one JSON object per line: {"text": "..."}.')
    }
  } catch (cause) {
    return unreadable(node, cause, { report, signal, shown })
  }
  return add(1, 'the file holds no rows', 'write one JSON object per line.')
}

// The list may be large; that it starts as a list tells the usual mistake, JSON Lines under another name.
async function checkList(node: LocatedNode | undefined, context: FileContext): Promise<undefined> {
  const path = textOf(node) ?? ''
  try {
    await using file = await open(path, 'r')
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4096), 0, 4096, 0)
    const start = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
    if (start.startsWith('[')) return undefined
  } catch (cause) {
    return unreadable(node, cause, context)
  }
  const message = 'the file does not start with a list'
  const fix = 'write a list of objects, [{...}, {...}]; one object per line is source_kind: jsonl.'
  context.report.add({ code: 'DATA_INVALID', message, where: { file: context.shown(path), line: 1, col: 1 }, fix })
  return undefined
}

function unreadable(node: LocatedNode | undefined, cause: unknown, { report, signal, shown }: FileContext): undefined {
  signal.throwIfAborted()
  const { message, fix } = fileError('read', shown(textOf(node) ?? ''), cause)
  if (node !== undefined)
    report.problem(node.origin, { code: 'CONFIG_PATH', message, ...(fix === undefined ? {} : { fix }) })
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
