// The splits that a dataset card names: the `configs` in the YAML at the top of README.md.
import { parseDocument } from 'yaml'
import { EvsysError, suggest } from '../../kernel/index.ts'
import { isRow } from '../row-field.ts'

/** Patterns of file paths by split, in the order of the card. */
export type SplitPatterns = ReadonlyMap<string, readonly RegExp[]>

/** The splits of a configuration; undefined where the card names none. */
export function cardSplits(
  card: string,
  { name, config }: { name: string; config?: string },
): SplitPatterns | undefined {
  const all = configsOf(card)
  const chosen =
    config === undefined
      ? (all.find((each) => each.default === true) ?? all.find((each) => each.config_name === 'default') ?? all[0])
      : all.find((each) => each.config_name === config)
  if (config !== undefined && chosen === undefined) {
    const known = all.flatMap((each) => (typeof each.config_name === 'string' ? [each.config_name] : []))
    throw new EvsysError('DATA_READ', `the dataset ${name} has no configuration "${config}"`, {
      fix: known.length === 0 ? 'its card names none: leave out params.config.' : suggest(config, known),
    })
  }
  return chosen === undefined ? undefined : patternsOf(chosen)
}

function configsOf(card: string): Record<string, unknown>[] {
  const [, yaml] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(card) ?? []
  if (yaml === undefined) return []
  const document = parseDocument(yaml)
  if (document.errors.length > 0) return [] // a card is prose; its files speak for themselves
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const configs = isRow(value) && Array.isArray(value.configs) ? value.configs : []
  return configs.filter(isRow)
}

function patternsOf({ data_files, data_dir }: Record<string, unknown>): SplitPatterns | undefined {
  const below = typeof data_dir === 'string' ? `${data_dir.replace(/^\.?\/*|\/+$/g, '')}/` : ''
  const compile = (paths: unknown) =>
    (Array.isArray(paths) ? paths : [paths]).flatMap((path) =>
      typeof path === 'string' ? [globPattern(`${below}${path.replace(/^\.\//, '')}`)] : [],
    )
  if (typeof data_files === 'string') return new Map([['train', compile(data_files)]])
  if (isRow(data_files)) return new Map(Object.entries(data_files).map(([split, path]) => [split, compile(path)]))
  if (!Array.isArray(data_files)) return undefined
  if (data_files.every((each) => typeof each === 'string')) return new Map([['train', compile(data_files)]])
  return new Map(
    data_files.flatMap((each): [string, RegExp[]][] =>
      isRow(each) && typeof each.split === 'string' ? [[each.split, compile(each.path)]] : [],
    ),
  )
}

/** `data/train-*` and `**` as a regular expression over paths with /. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}
