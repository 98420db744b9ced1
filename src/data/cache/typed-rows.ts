// The typed rows of a data block as a stream, with their places, and an account of what was read and what each transform left.
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { AnyPlugin, DataConfig, PlacedRow, Row, RowFormat, RowOf, SourceContext } from '../../contracts/index.ts'
import {
  type EquippedPlugin,
  EvsysError,
  equipPlugin,
  hashOf,
  isMapping,
  type PluginServices,
} from '../../kernel/index.ts'
import { placeOf, withPlace } from '../rows/raw-row.ts'
import { parseRows, runTransform } from '../rows/row-stream.ts'

/** Rows that a preview shows. */
const previewed = 3

export interface TypedRow<F extends RowFormat> {
  readonly row: RowOf[F]
  readonly place: string
}

/** Filled while rows are read. */
export interface RowAccount {
  /** Rows of the source, then those that each transform left. */
  readonly counts: number[]
  readonly before: PlacedRow[]
  readonly after: PlacedRow[]
}

export async function* typedRows<F extends RowFormat>(
  { source, sourceContext, steps }: RowPlan,
  { format, services }: Pick<RowRequest<F>, 'format' | 'services'>,
  account: RowAccount,
): AsyncGenerator<TypedRow<F>, void, undefined> {
  const { signal } = services
  const { counts } = account
  const count = (at: number) => {
    counts[at] = 0
    return () => {
      counts[at] = (counts[at] ?? 0) + 1
    }
  }
  let stream = placed(source, sourceContext, account.before, count(0))
  for (const [index, { equipped }] of steps.entries()) {
    const step = { transform: equipped.plugin, context: equipped.context }
    stream = runTransform(step, stream, count(index + 1))
  }
  let place: string | undefined
  const onRow = (row: Row) => {
    place = placeOf(row)
  }
  let index = 0
  for await (const row of parseRows(stream, format, { signal, onRow })) {
    index++
    const at = place ?? `row ${index}`
    if (account.after.length < previewed) account.after.push({ place: at, row: shortRow(row) })
    yield { row, place: at }
  }
}

async function* placed(
  { plugin, context }: RowPlan['source'],
  sourceContext: RowPlan['sourceContext'],
  first: PlacedRow[],
  onRow: () => void,
): AsyncGenerator<Row, void, undefined> {
  for await (const { row, place } of plugin.rows({ ...context, ...sourceContext })) {
    if (!isMapping(row) || typeof place !== 'string') {
      throw new EvsysError('PLUGIN_FAILED', `data source "${plugin.kind}": what it yields is no { row, place }`, {
        fix: 'yield each row together with where it stands, as in { row, place: "rows.jsonl:7" }.',
      })
    }
    onRow()
    if (first.length < previewed) first.push({ place, row: shortRow(row) })
    yield withPlace(row, place)
  }
}

// A data block made ready to be read: its source and transforms found and equipped, and what all of it amounts to as a key.
/** Where rows may be kept, and what distinguishes the code of a plugin from its next version. */
export interface RowCache {
  readonly dir: string
  /** Seed of the run: part of the key where a transform draws. */
  readonly seed: number
  codeHash(plugin: AnyPlugin): string
}

export interface RowRequest<F extends RowFormat = RowFormat> {
  readonly data: DataConfig
  readonly format: F
  readonly services: PluginServices
  /** Folder of the project. Absent: the working directory, and no stored datasets. */
  readonly projectDir?: string | undefined
  /** Where the path of a block with a store was copied to. */
  readonly fetched?: string | undefined
  /** Absent: rows are made at every start. */
  readonly cache?: RowCache | undefined
}

export interface RowPlan {
  readonly source: EquippedPlugin<'data_source'>
  readonly sourceContext: SourceContext
  readonly steps: readonly { equipped: EquippedPlugin<'transform'>; params: Record<string, unknown> }[]
  /** Whether a transform has drawn so far. */
  readonly drew: () => boolean
}

/** A stored dataset wins over every other source. */
export function sourceKind({ source_kind, dataset_id, dataset_name }: DataConfig): string {
  return dataset_id === undefined && dataset_name === undefined ? source_kind : 'dataset'
}

export function planRows({ data, services, projectDir, fetched }: RowRequest): RowPlan {
  let drawn = false
  const noticing: PluginServices = {
    ...services,
    random(...path) {
      drawn = true
      return services.random(...path)
    },
  }
  const source = equipPlugin('data_source', { kind: sourceKind(data), params: data.params ?? {} }, services)
  const steps = data.transforms.map(({ kind, params }) => ({
    equipped: equipPlugin('transform', { kind, params }, noticing),
    params,
  }))
  const toPath = (path: string) =>
    (path === data.path ? fetched : undefined) ?? resolve(projectDir ?? process.cwd(), path)
  const sourceContext = { data: shown(data, projectDir), resolve: toPath, projectDir }
  return { source, sourceContext, steps, drew: () => drawn }
}

/** The keys that the rows may be cached under: without the seed and with it. None where the source cannot be recognised. */
export async function keysOf(
  { source, sourceContext, steps }: RowPlan,
  { data, format, cache }: Pick<RowRequest, 'data' | 'format' | 'cache'>,
): Promise<{ identity: unknown; unseeded: string; seeded: string } | undefined> {
  if (cache === undefined) return undefined
  const identity = await source.plugin.identity?.({ ...source.context, ...sourceContext })
  if (identity === undefined) return undefined
  const parts = {
    version: 1,
    format,
    source: { kind: source.plugin.kind, params: data.params ?? {}, code: cache.codeHash(source.plugin), identity },
    transforms: steps.map(({ equipped, params }) => ({
      kind: equipped.plugin.kind,
      params,
      code: cache.codeHash(equipped.plugin),
    })),
  }
  return { identity, unseeded: hashOf(parts), seeded: hashOf({ ...parts, seed: cache.seed }) }
}

// Rows are named as a person would write their file from the project's folder.
function shown(data: DataConfig, projectDir: string | undefined): DataConfig {
  if (projectDir === undefined || data.path === undefined || !isAbsolute(data.path)) return data
  const path = relative(projectDir, data.path)
  const isOutside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)
  return isOutside ? data : { ...data, path: path.split(sep).join('/') }
}

// A row as a preview keeps it: whole where it is small, with its texts and lists cut where it is not.
const wholeChars = 20_000
const longestText = 1_000
const longestList = 20

function shortRow(row: object): Row {
  const copy: unknown = JSON.parse(JSON.stringify(row))
  return (JSON.stringify(copy).length <= wholeChars ? copy : shortened(copy)) as Row // the copy of a mapping is one
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= longestText ? value : `${value.slice(0, longestText)}… (${value.length} characters)`
  if (Array.isArray(value)) {
    const kept = value.slice(0, longestList).map(shortened)
    return value.length <= longestList ? kept : [...kept, `… (${value.length} items)`]
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.slice(0, longestList).map(([key, each]) => [key, shortened(each)]))
}
