// The document that an experiment or task is read from: a file, a text that an editor has not saved, or a mapping made in code.
import { dirname, resolve } from 'node:path'
import { EvsysError } from '../kernel/index.ts'
import { locateValue } from './locate-value.ts'
import { isNull, type LocatedNode, type Source, toJs } from './located.ts'
import { parseYaml } from './parse-yaml.ts'
import { Report } from './report.ts'
import { type Document, readText } from './resolve-extends.ts'

/** Where a configuration comes from. `file` is relative to the working folder; with `text` it is not read. */
export type ConfigSource = { readonly file: string; readonly text?: string | undefined } | { readonly value: unknown }

export interface ReadOptions {
  readonly cwd: string
  readonly signal?: AbortSignal | undefined
}

export async function readDocument(
  source: ConfigSource,
  { cwd, signal }: ReadOptions,
  report: Report,
): Promise<Document | undefined> {
  if ('value' in source) {
    const root = locateValue(source.value, { name: '(value)', dir: cwd, rank: 0 }, report)
    return root === undefined ? undefined : documentOf(root, undefined, report)
  }
  const file = resolve(cwd, source.file)
  const read =
    source.text === undefined ? await readText(file, source.file, signal) : { text: source.text.replace(/^\uFEFF/, '') }
  if ('problem' in read) {
    report.add({ code: 'CONFIG_READ', ...read.problem })
    return undefined
  }
  const text: Source = { name: source.file, text: read.text, dir: dirname(file), rank: 0 }
  const root = parseYaml(text, report)
  return root === undefined ? undefined : documentOf(root, file, report)
}

/** What a YAML text says, as JSON; throws everything that is wrong with its form. `name` is what errors call it. */
export function yamlValue(text: string, name: string): unknown {
  const report = new Report()
  const root = parseYaml({ name, text, dir: '.', rank: 0 }, report)
  if (root === undefined) throw EvsysError.many(report.problems)
  return toJs(root)
}

function documentOf(root: LocatedNode, file: string | undefined, report: Report): Document | undefined {
  if (root.type === 'map') return { root, source: root.origin.source, file }
  const message = isNull(root) ? 'the file is empty' : 'a mapping must stand at the top'
  const fix = 'write `key: value` lines, starting with `name: ...`.'
  report.problem(root.origin, { code: 'CONFIG_INVALID', message, fix })
  return undefined
}
