// Plugin files that a candidate of an experiment file brings: which there are, where they are loaded from, and what they may not be.
// They are code of a model: nothing of them is run here.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { AttemptFailure, CandidateFiles, PluginCard } from '../../contracts/index.ts'
import { EvsysError, fileError, fileWork, hashOf, sha256, systemCode } from '../../kernel/index.ts'
import type { CandidateCode } from '../../lab/index.ts'
import { inScope, strangePlugins, wrongPattern } from './edits/index.ts'

/** Where a candidate may bring files to. */
export interface CodeScope {
  /** Patterns of files, as `research.scope` has them. */
  readonly scope: readonly string[]
  /** Folder of the experiment, which they are relative to. */
  readonly folder: string
  readonly projectDir: string
}

const codeFile = /\.m?[jt]s$/
const otherFile = /\.d\.m?ts$|\.(?:test|test-d|spec)\.m?[jt]s$/
const mostFiles = 100
const longestFile = 200_000

/** Throws what is wrong with a scope. `sealed`: what holds expected answers. */
export function checkScope({ scope, folder, projectDir }: CodeScope, sealed: readonly string[]): void {
  const below = (path: string) => relative(folder, path).split(sep).join('/')
  const found = join(projectDir, 'src', 'plugins')
  const wrong = (pattern: string): string | undefined => {
    const own = wrongPattern(pattern)
    if (own !== undefined) return own
    if (inScope([pattern], below(join(found, 'x.ts'))) || pattern.startsWith(`${below(found)}/`))
      return 'plugins in src/plugins are loaded by every experiment of the project: name a folder beside this file, such as plugins/*.ts'
    const answers = sealed.map(below).find((path) => !path.startsWith('..') && pattern.startsWith(path))
    return answers === undefined ? undefined : `${answers} is part of what judges candidates`
  }
  const problems = scope.flatMap((pattern) => {
    const why = wrong(pattern)
    if (why === undefined) return []
    const fix = 'name files below the folder of this file, such as plugins/*.ts.'
    return [{ code: 'CONFIG_INVALID' as const, message: `research.scope: ${pattern}: ${why}`, fix }]
  })
  if (problems.length > 0) throw EvsysError.many(problems)
}

/** The plugin files of a scope that are there already. */
export async function readScope({ scope, folder }: CodeScope): Promise<CandidateFiles> {
  const files: Record<string, string> = {}
  const walk = async (under: string): Promise<void> => {
    const names = await readdir(join(folder, under)).catch((cause: unknown) => {
      if (systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR') return []
      throw fileError('read', join(folder, under), cause)
    })
    for (const name of names.sort()) {
      if (name.startsWith('.') || name === 'node_modules') continue
      const path = under === '' ? name : `${under}/${name}`
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await walk(path)
      else if (stats.isFile() && isCode(path) && inScope(scope, path)) {
        if (stats.size > longestFile || Object.keys(files).length === mostFiles) throw tooMuch(path)
        files[path] = await readFile(join(folder, path), 'utf8')
      }
    }
  }
  // From the folders that patterns name; one within another is read with it.
  const roots = [...new Set(scope.map((pattern) => fixedPart(pattern)))].sort()
  for (const root of roots.filter((each) => !roots.some((other) => each !== other && each.startsWith(`${other}/`)))) {
    await walk(root)
  }
  return files
}

function isCode(path: string): boolean {
  return codeFile.test(path) && !otherFile.test(path)
}

function fixedPart(pattern: string): string {
  const steps = pattern.replace(/^\.\//, '').split('/').slice(0, -1)
  const star = steps.findIndex((step) => step.includes('*'))
  return steps.slice(0, star < 0 ? undefined : star).join('/')
}

function tooMuch(path: string): EvsysError {
  return new EvsysError('CONFIG_INVALID', `research.scope: more than ${mostFiles} files, or ${path} is too long`, {
    fix: 'name fewer and smaller files: a proposer reads all of them.',
  })
}

/** The files of a candidate that are code. */
export function codeOf(files: CandidateFiles, document: string): CandidateFiles {
  const { [document]: _, ...code } = files
  return code
}

/** Puts the code of a candidate where it is loaded from; undefined: it brings none of its own. */
export async function placeCode(
  code: CandidateFiles,
  { baseline, root, scope }: { baseline: CandidateFiles; root: string; scope: readonly string[] },
): Promise<CandidateCode | undefined> {
  const hash = hashOf(code)
  if (hash === hashOf(baseline)) return undefined
  const folder = join(root, hash.slice(0, 32))
  const owns = (path: string) => inScope(scope, path)
  if ((await stat(folder).catch(() => undefined)) !== undefined) return { folder, owns }
  const made = `${folder}.${randomUUID()}`
  await fileWork('write', folder, async () => {
    for (const [path, text] of Object.entries(code)) {
      await mkdir(dirname(join(made, path)), { recursive: true })
      await writeFile(join(made, path), text)
    }
    await mkdir(made, { recursive: true }) // of a candidate that took all files out
    // Another that places the same is done first, or last: it is the same.
    await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }))
  })
  return { folder, owns }
}

/** Files of a candidate that are no plugin files of a usual size. */
export function codeFileProblems(code: CandidateFiles): AttemptFailure[] {
  return Object.entries(code).flatMap(([path, text]): AttemptFailure[] => {
    if (!isCode(path))
      return [{ class: 'validation', reason: `${path} is no plugin file: these end in .ts, .mts, .js or .mjs` }]
    if (text.length <= longestFile) return []
    return [{ class: 'validation', reason: `${path} has more than ${longestFile} characters` }]
  })
}

/** Plugins that a candidate brings and may not. `before`: all that there were without it. */
export function pluginProblems(
  before: readonly PluginCard[],
  after: readonly PluginCard[],
  { code, folder, projectDir }: { code: CandidateCode; folder: string; projectDir: string },
): AttemptFailure[] {
  const [placed, own] = [`${relative(projectDir, code.folder)}/`, relative(projectDir, folder)]
  const isBrought = ({ origin }: PluginCard) => origin.startsWith(placed)
  // As if they lay beside the experiment: one that was there before may be changed.
  const moved = after.map((card) =>
    isBrought(card) ? { ...card, origin: join(own, card.origin.slice(placed.length)) } : card,
  )
  const needs = after.filter(isBrought).flatMap(({ type, kind, needs: { network, container, sandbox, secrets } }) => {
    const asked = [
      ...(network === true ? ['the network'] : []),
      ...(container === true || sandbox === true ? ['a sandbox'] : []),
      ...(secrets !== undefined && secrets.length > 0 ? ['secrets'] : []),
    ]
    return asked.length === 0 ? [] : [`the ${type} "${kind}" declares that it needs ${asked.join(' and ')}`]
  })
  return [...strangePlugins(before, moved), ...needs].map((reason) => ({ class: 'tamper', reason }))
}

/** Short questions stand in many texts by chance: one of them says nothing. */
const certainLength = 16
const leastLength = 4
const mostByChance = 2

/**
 * Benchmarks whose questions stand in what a candidate wrote, word for word: in templates, prompts and examples as in code. Rows are
 * compared apart, and what is written in another form is left to the hidden test.
 */
export function memorised(
  files: CandidateFiles,
  baseline: CandidateFiles,
  benchmarks: readonly { readonly name: string; readonly questions: readonly string[] }[],
): AttemptFailure[] {
  const added = Object.entries(files).map(([path, text]) => {
    const known = new Set((baseline[path] ?? '').split('\n'))
    return text.split('\n').filter((line) => !known.has(line))
  })
  const [written, before] = [added.flat().join('\n'), Object.values(baseline).join('\n')].map(wordsOf)
  return benchmarks.flatMap(({ name, questions }): AttemptFailure[] => {
    const all = [...new Set(questions.map(wordsOf))].filter((text) => text.length >= leastLength + 2)
    const held = all.filter((text) => written?.includes(text) === true && before?.includes(text) !== true)
    const isCertain = held.some((text) => text.length >= certainLength + 2)
    if (held.length === 0 || (!isCertain && held.length <= mostByChance)) return []
    const count = `${held.length} ${held.length === 1 ? 'question' : 'questions'}`
    return [{ class: 'tamper', reason: `it holds ${count} of the benchmark "${name}", word for word` }]
  })
}

/** Words between single spaces, with one before and one behind. */
function wordsOf(text: string): string {
  const words = text
    .replace(/\\[nrt]/g, ' ')
    .toLowerCase()
    .normalize('NFKC')
  return ` ${words.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()} `
}

/** What the files below some paths hold: by content, and large ones by what the system says of them. */
export async function holdings(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const take = async (path: string): Promise<void> => {
    if (found.size >= mostHeld) return
    const stats = await stat(path, { bigint: true }).catch(() => undefined)
    if (stats === undefined) found.set(path, 'absent')
    else if (stats.isDirectory()) {
      for (const name of (await readdir(path)).sort()) await take(join(path, name))
    } else if (stats.size <= wholeBytes) found.set(path, sha256(await readFile(path)))
    else found.set(path, `${stats.size}.${stats.mtimeNs}.${stats.ctimeNs}.${stats.ino}`)
  }
  for (const path of paths) await take(path)
  return found
}

const mostHeld = 20_000
const wholeBytes = 4_000_000n

/** Files that are not what they were. */
export function changedHoldings(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
}
