// What a task is, by content: the digest that Harbor writes into its lock files. Two folders with one digest are one task.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../kernel/index.ts'
import { ignoreRules } from './ignore-rules.ts'

const singleFiles = ['task.toml', 'instruction.md', 'README.md', 'trajectory.json']
const folders = ['environment', 'tests', 'solution', 'steps']
const defaultIgnores = ['__pycache__/', '*.pyc', '.DS_Store', '*.swp', '*.swo', '*~']

/** `sha256:<hex>` over paths and contents of the files of the task folder at `path`. */
export async function taskDigest(path: string): Promise<string> {
  const digest = createHash('sha256')
  for (const file of await taskFiles(path)) digest.update(`${file}\0${await fileHash(join(path, file))}\n`)
  return `sha256:${digest.digest('hex')}`
}

/** The files that make up a task, relative, in the order of their bytes. */
export async function taskFiles(path: string): Promise<string[]> {
  const found: string[] = []
  for (const name of singleFiles) if (await isFile(join(path, name))) found.push(name)
  for (const name of folders) found.push(...(await filesBelow(path, name)))
  const ignored = ignoreRules(await ignoreLines(path))
  return found.filter((file) => !ignored(file)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(ifMissing([]))
  const files: string[] = []
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) files.push(...(await filesBelow(root, path)))
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) files.push(path)
  }
  return files
}

async function ignoreLines(path: string): Promise<string[]> {
  const text = await readFile(join(path, '.gitignore'), 'utf8').catch(ifMissing(undefined))
  return text === undefined ? defaultIgnores : text.split(/\r\n|[\n\r]/)
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(ifMissing(undefined)))?.isFile() ?? false
}

function ifMissing<T>(value: T): (cause: unknown) => T {
  return (cause) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(cause) ?? '')) return value
    throw cause
  }
}

async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
