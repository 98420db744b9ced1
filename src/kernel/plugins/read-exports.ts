// The plugins that a loaded file exports: its default export, one plugin or a list, and every named export that is one.
import type { AnyPlugin } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { checkPlugin, resemblesPlugin } from './check-plugin.ts'
import { inWords } from './in-words.ts'
import { type Place, placeOfText } from './locate-text.ts'
import { isPlugin } from './plugin-brand.ts'

export type ExportedPlugin = { plugin: AnyPlugin; place: Place }

/** What `exports` of a file holds: plugins with their place, and what looks like one but is none. */
export function readExports(file: string, exports: unknown): { plugins: ExportedPlugin[]; problems: Problem[] } {
  const named = namedExports(exports)
  const listed = 'default' in named ? asList(named.default) : []
  const values: [name: string, value: unknown][] = [
    ...listed.map((value): [string, unknown] => ['default', value]),
    ...Object.entries(named).filter(
      ([name, value]) => name !== 'default' && (isPlugin(value) || resemblesPlugin(value)),
    ),
  ]
  const plugins = new Map<AnyPlugin, ExportedPlugin>()
  const problems: Problem[] = []
  for (const [name, value] of values) {
    const result = checkPlugin(value)
    if ('plugin' in result)
      plugins.set(result.plugin, { plugin: result.plugin, place: placeOfPlugin(file, name, result.plugin) })
    else problems.push(...result.problems.map((problem) => atExport(problem, file, name)))
  }
  if (values.length === 0) problems.push(nothingExported(file, named))
  return { plugins: [...plugins.values()], problems }
}

/** Exports by name. A CommonJS file that exports a plugin or a list has it as its default. */
export function namedExports(exports: unknown): Record<string, unknown> {
  if (isPlugin(exports) || Array.isArray(exports)) return { default: exports }
  return typeof exports === 'object' && exports !== null ? { ...exports } : { default: exports }
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}

function atExport(problem: Problem, file: string, name: string): Problem {
  const whose = name === 'default' ? 'the default export' : `the export "${name}"`
  return { ...problem, ...placeOfText(file, exportPatterns(name)), message: `${whose}: ${problem.message}` }
}

function placeOfPlugin(file: string, name: string, { kind }: AnyPlugin): Place {
  const literal = kind.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return placeOfText(file, [new RegExp(`\\bkind\\s*:\\s*["'\`]${literal}["'\`]`), ...exportPatterns(name)])
}

function exportPatterns(name: string): RegExp[] {
  if (name === 'default') return [/^[ \t]*export\s+default\b/m, /\bas\s+default\b/, /^[ \t]*module\.exports\b/m]
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return [
    new RegExp(`^[ \\t]*export\\s+(?:async\\s+)?(?:const|let|var|function\\*?|class)\\s+${word}(?![\\w$])`, 'm'),
    new RegExp(`^[ \\t]*(?:module\\.)?exports\\.${word}(?![\\w$])`, 'm'),
    new RegExp(`(?<![\\w$])${word}(?![\\w$])`),
  ]
}

function nothingExported(file: string, named: Record<string, unknown>): Problem {
  const names = Object.keys(named)
  const what =
    'default' in named
      ? `its default export is ${inWords(named.default)}`
      : `it exports ${names.join(', ') || 'nothing'}`
  return {
    code: 'PLUGIN_INVALID',
    message: `the file exports no plugin: ${what}`,
    fix: "export what a define* function of 'evsys/plugin' returns: export default defineTransform({ ... }). Files that only help plugins belong outside src/plugins.",
    ...placeOfText(file, exportPatterns('default')),
  }
}
