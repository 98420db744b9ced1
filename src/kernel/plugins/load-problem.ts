// From whatever loading a plugin file threw to a problem with a place in the author's own code. The text of an error and its
// stack come from foreign code and are only searched, never trusted.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Location } from '../../contracts/index.ts'
import { EvsysError, type Excerpt, messageOf, type Problem, problemsOf } from '../evsys-error.ts'
import { closest, suggest } from '../suggest.ts'
import { hostModuleNames, isHostModule } from './host-modules.ts'

/**
 * The problems that `cause`, thrown while `file` was loaded, stands for. `files` are the author's: the file and its imports;
 * `offered` is what he could import from evsys.
 */
export function loadProblems(
  cause: unknown,
  file: string,
  {
    files = [file],
    offered = [],
  }: { files?: readonly string[] | undefined; offered?: readonly string[] | undefined } = {},
): Problem[] {
  const place = placeInStack(cause, files) ?? placeOfText(file, [/^throw\b/m]) // what is no Error has no stack
  if (EvsysError.is(cause)) {
    // Thrown by define*, which knows no places.
    return problemsOf(cause).map((problem) => (problem.where === undefined ? { ...problem, ...place } : problem))
  }
  const problem = syntaxError(cause, files) ?? missingModule(cause, files) ?? thrown(cause, offered)
  return [{ code: 'PLUGIN_LOAD', ...place, ...problem }]
}

type Found = Partial<Place> & { message: string; fix: string }

// jiti: `ParseError: Unexpected token, expected "," \n /path/file.ts:5:2`, with columns from 0.
function syntaxError(cause: unknown, files: readonly string[]): Found | undefined {
  const match = /^\s*(?:ParseError|SyntaxError): ([\s\S]*?)\s*\n\s*(.+):(\d+):(\d+)\s*$/.exec(textOf(cause, 'message'))
  const file = files.find((each) => each === match?.[2] || each === match?.[2]?.replaceAll('/', '\\'))
  const isNative = textOf(cause, 'name') === 'SyntaxError'
  if (match === null || file === undefined) return isNative ? syntaxFault(messageOf(cause)) : undefined
  return { ...placeOfLine(file, Number(match[3]), Number(match[4]) + 1), ...syntaxFault(match[1] ?? '') }
}

function syntaxFault(text: string): Found {
  const words = text.replace(/\s*\(\d+:\d+\)/, '').trim()
  return {
    message: `syntax error: ${words.charAt(0).toLowerCase()}${words.slice(1)}`,
    fix: 'correct the text at the caret. The fault often starts on the line before.',
  }
}

function missingModule(cause: unknown, files: readonly string[]): Found | undefined {
  if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(textOf(cause, 'code'))) return undefined
  const specifier = /Cannot find (?:module|package) '([^']+)'/.exec(textOf(cause, 'message'))?.[1]
  if (specifier === undefined) return undefined
  const quoted = new RegExp(`(["'\`])${specifier.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\1`)
  const importer = placeInStack(cause, files)?.where.file
  const place = importer === undefined ? {} : placeOfText(importer, [quoted])
  return { ...place, message: `imports "${specifier}", which cannot be found`, fix: whereToLook(specifier, importer) }
}

function whereToLook(specifier: string, importer: string | undefined): string {
  if (isHostModule(specifier)) return suggest(specifier, hostModuleNames)
  if (!specifier.startsWith('.')) {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
    return `\`npm install ${name}\` in the project, or correct the name.`
  }
  try {
    const names = readdirSync(dirname(join(dirname(importer ?? ''), specifier)))
    return suggest(
      basename(specifier),
      names.filter((name) => name !== basename(importer ?? '')),
    )
  } catch {
    return 'correct the path; it is relative to the file that imports it.'
  }
}

function thrown(cause: unknown, offered: readonly string[]): Found {
  // `(0 , _plugin.defineX)` is what transpiled code calls an imported `defineX`.
  const words = messageOf(cause).replace(/\(0 , _[\w$]+\.([\w$]+)\)/g, '$1')
  const name = /^([\w$]+) is not a function$/.exec(words)?.[1]
  const meant = name === undefined || offered.includes(name) ? undefined : closest(name, offered)
  return {
    message: `an error was thrown while it was loaded: ${words}`,
    fix:
      meant === undefined
        ? 'correct the code at that place. Importing a plugin should only define it; work belongs in its functions.'
        : `did you mean "${meant}"?`,
  }
}

/** The first line of a stack that lies in one of `files`. Columns are those of transpiled code, so only the line counts. */
export function placeInStack(cause: unknown, files: readonly string[]): Place | undefined {
  for (const frame of textOf(cause, 'stack').split('\n').slice(0, 200)) {
    for (const file of files) {
      for (const name of [file, pathToFileURL(file).href]) {
        const at = frame.indexOf(`${name}:`)
        const line = at === -1 ? undefined : /^\d+/.exec(frame.slice(at + name.length + 1))?.[0]
        if (line !== undefined) return placeOfLine(file, Number(line))
      }
    }
  }
  return undefined
}

function textOf(cause: unknown, field: string): string {
  try {
    const text: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, field) : undefined
    return typeof text === 'string' ? text.slice(0, 20_000) : ''
  } catch {
    return '' // a getter or proxy that throws
  }
}

// Places in source files, for errors about code: a line, a column and the text to show.
export type Place = { where: Location; excerpt?: Excerpt | undefined }

/** The place of a line. Column 0 stands for "somewhere in the line". A line past the end is the last one with text. */
export function placeOfLine(file: string, line: number, col = 0): Place {
  const lines = linesOf(file)
  let last = Math.min(Math.max(line, 1), Math.max(lines.length, 1))
  while (last > 1 && (lines[last - 1] ?? '').trim() === '') last--
  const text = lines[last - 1] ?? ''
  const isInLine = last === line && col >= 1 && col <= text.length + 1
  const indent = text.length - text.trimStart().length
  const start = isInLine ? col : indent + 1
  const length = isInLine ? wordAt(text, col) : Math.max(text.trim().length, 1)
  const where = { file, line: last, col: start }
  return text.trim() === '' ? { where } : { where, excerpt: { text, line: last, col: start, length } }
}

/** The place of the first match of the first pattern that matches; the start of the file where none does. */
export function placeOfText(file: string, patterns: readonly RegExp[]): Place {
  const source = linesOf(file).join('\n')
  for (const pattern of patterns) {
    const match = pattern.exec(source)
    if (match === null) continue
    const before = source.slice(0, match.index + match[0].length - match[0].trimStart().length).split('\n')
    return placeOfLine(file, before.length, (before.at(-1)?.length ?? 0) + 1)
  }
  return placeOfLine(file, 1)
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .split(/\r\n|\r|\n/)
  } catch {
    return [] // gone or unreadable: the error that led here says so
  }
}

function wordAt(text: string, col: number): number {
  return /^(?:[\w$]+|["'`][^"'`]*["'`])/.exec(text.slice(col - 1))?.[0].length ?? 1
}

// Whether a text is TypeScript, by the parser that plugin files are transpiled with. Nothing of it is run.
interface Transformed {
  readonly error?:
    | { readonly message?: string | undefined; readonly loc?: { readonly line?: number | undefined } | undefined }
    | undefined
}

const require = createRequire(import.meta.url)

/** Line and words of the first mistake; undefined: it can be read. */
export function typescriptFault(source: string): { line: number; message: string } | undefined {
  const dist = join(dirname(require.resolve('jiti/package.json')), 'dist')
  const transform: (options: object) => Transformed = require(join(dist, 'babel.cjs')) // 1.5 MB: only when there is TypeScript
  const { error } = transform({ source, filename: 'candidate.ts', ts: true, async: true, interopDefault: false })
  if (error === undefined) return undefined
  const [words = ''] = (error.message ?? '').replace(/^.*?\.ts: /, '').split('\n')
  return {
    line: Math.max(1, error.loc?.line ?? 1),
    message: words.replace(/\s*\(\d+:\d+\)\s*$/, '') || 'it cannot be read',
  }
}
