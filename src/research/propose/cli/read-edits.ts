// What an agent did to a folder, as a change. Links and whatever leads out of the folder are not followed.
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CandidateFiles, Change } from '../../../contracts/index.ts'

// Agents leave these behind.
const ignored = /^(?:\..*|__pycache__|node_modules|.*\.pyc)$/
const mostFiles = 500
const longestFile = 2_000_000

/** The texts of a folder by path, but for those in `except`. */
export async function readFolder(folder: string, except: readonly string[]): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  const walk = async (under: string): Promise<void> => {
    for (const entry of (await readdir(join(folder, under))).sort()) {
      const path = under === '' ? entry : `${under}/${entry}`
      if (ignored.test(entry) || except.includes(path)) continue
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await walk(path)
      else if (stats.isFile() && stats.size <= longestFile && Object.keys(files).length < mostFiles) {
        const bytes = await readFile(join(folder, path))
        if (!bytes.includes(0)) files[path] = bytes.toString('utf8')
      }
    }
  }
  await walk('')
  return files
}

/** The difference as an idea's change; undefined: there is none. A file that is gone needs a patch, all else is whole files. */
export function changeBetween(before: CandidateFiles, after: CandidateFiles): Change | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const changed = names.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return undefined
  if (changed.every((name) => Object.hasOwn(after, name)))
    return { kind: 'files', files: Object.fromEntries(changed.map((name) => [name, after[name] ?? ''])) }
  return { kind: 'patch', patch: changed.map((name) => wholePatch(name, before[name], after[name])).join('') }
}

function wholePatch(name: string, before: string | undefined, after: string | undefined): string {
  const side = (text: string | undefined, sign: '-' | '+') => {
    if (text === undefined || text === '') return { lines: [] as string[], count: 0 }
    const isClosed = text.endsWith('\n')
    const lines = (isClosed ? text.slice(0, -1) : text).split('\n').map((line) => `${sign}${line}`)
    return { lines: isClosed ? lines : [...lines, '\\ No newline at end of file'], count: lines.length }
  }
  const [old, next] = [side(before, '-'), side(after, '+')]
  const from = before === undefined ? '/dev/null' : `a/${name}`
  const to = after === undefined ? '/dev/null' : `b/${name}`
  const place = (count: number) => (count === 0 ? '0,0' : `1,${count}`)
  return `${[`--- ${from}`, `+++ ${to}`, `@@ -${place(old.count)} +${place(next.count)} @@`, ...old.lines, ...next.lines].join('\n')}\n`
}
