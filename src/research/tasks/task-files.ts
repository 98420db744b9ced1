// The texts of a task folder that the loop works with: the baseline, which lies in scope, and the files of the API beside it.

import { readdirSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, normalize, sep } from 'node:path'
import type { CandidateFiles, TaskRuntime } from '../../contracts/index.ts'
import { EvsysError, fileError, systemCode } from '../../kernel/index.ts'
import { bundledTasks } from './find-tasks.ts'

/** Larger files are data, not code that a proposer reads. */
const largestBytes = 1_000_000
/** More files than this are not read to find those in scope. */
const mostFiles = 10_000
const skipped = new Set(['node_modules', '.git', '.evsys', '__pycache__'])

/** Files of the folder that are in scope and not off limits, by their path with forward slashes. */
export async function readScope(
  dir: string,
  { scope, offLimits }: { readonly scope: readonly string[]; readonly offLimits: readonly string[] },
): Promise<CandidateFiles> {
  const files: Record<string, string> = {}
  for (const path of await pathsIn(dir)) {
    if (matchesGlob(path, scope) && !matchesGlob(path, offLimits)) files[path] = await readTaskText(dir, path)
  }
  return files
}

/** Text of a file of the folder. */
export async function readTaskText(dir: string, path: string): Promise<string> {
  const file = join(dir, path)
  try {
    const { size } = await stat(file)
    if (size > largestBytes) {
      throw new EvsysError('CONFIG_INVALID', `${file} has ${size} bytes; code has at most ${largestBytes}`, {
        fix: 'keep data out of `scope` and `api`: `data` is the place for it.',
      })
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (cause) {
    if (EvsysError.is(cause)) throw cause
    if (cause instanceof TypeError) {
      throw new EvsysError('CONFIG_INVALID', `${file} is no text in UTF-8`, {
        fix: 'leave it out of `scope` and `api`.',
      })
    }
    throw fileError('read', file, cause)
  }
}

/** Why a path of a task file names no file of its folder; undefined when it does. */
export async function whyNoFile(dir: string, path: string): Promise<string | undefined> {
  if (isAbsolute(path) || normalize(path).split(sep).includes('..')) return 'leads out of the folder of the task'
  try {
    return (await stat(join(dir, path))).isFile() ? undefined : 'is no file'
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return 'does not exist'
    throw fileError('inspect', join(dir, path), cause)
  }
}

async function pathsIn(dir: string, below = ''): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(join(dir, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory() && !skipped.has(entry.name)) found.push(...(await pathsIn(dir, path)))
    else if (entry.isFile()) found.push(path)
    if (found.length > mostFiles) {
      throw new EvsysError('CONFIG_INVALID', `${dir} holds more than ${mostFiles} files`, {
        fix: 'keep data out of the folder of a task: `data` says where it comes from.',
      })
    }
  }
  return found.sort()
}

// The parts of the API that come with evsys: `evsys-task` lies beside every candidate, the others where a task asks for them as
// `evsys:NAME`.
/** Begins the name of a module that comes with evsys. */
export const sharedPrefix = 'evsys:'

const folder = join(bundledTasks, 'shared')
const forms: Readonly<Record<TaskRuntime, readonly RegExp[]>> = {
  node: [/^evsys-(.+)\.mjs$/],
  python: [/^evsys_(.+)\.py$/],
  command: [/^evsys-(.+)\.mjs$/, /^evsys_(.+)\.py$/],
  table: [],
}

/** Names that `api` may hold for a runtime. */
export function sharedApis(runtime: TaskRuntime): string[] {
  const names = filesFor(runtime).map(([name]) => `${sharedPrefix}${name}`)
  return [...new Set(names)].filter((name) => name !== `${sharedPrefix}task`).sort()
}

/** Files of `evsys-task` and of what is asked for, by the name they have beside a candidate. */
export async function sharedFiles(runtime: TaskRuntime, api: readonly string[]): Promise<CandidateFiles> {
  const wanted = filesFor(runtime).filter(([name]) => name === 'task' || api.includes(`${sharedPrefix}${name}`))
  return Object.fromEntries(await Promise.all(wanted.map(async ([, file]) => [file, await readTaskText(folder, file)])))
}

function filesFor(runtime: TaskRuntime): [name: string, file: string][] {
  return readdirSync(folder).flatMap((file) => {
    const name = forms[runtime].map((form) => form.exec(file)?.[1]).find((found) => found !== undefined)
    return name === undefined ? [] : [[name, file] as [string, string]]
  })
}

// Globs of a task file: `*` and `?` stay within a name, `**` is any number of folders. What names a folder names all in it.
/** Whether a path (relative, with forward slashes) is named by one of the globs. */
export function matchesGlob(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => compile(glob).test(path))
}

function compile(glob: string): RegExp {
  const clean = glob.replace(/^\.\//, '').replace(/\/+$/, '')
  const source = clean.replace(/\*\*\/|\*\*|\*|\?|[\\^$.+()[\]{}|]/g, (part) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}(?:/.*)?$`, 's')
}
