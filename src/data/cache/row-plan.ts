// A data block made ready to be read: its source and transforms found and equipped, and what all of it amounts to as a key.
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { AnyPlugin, DataConfig, RowFormat, SourceContext } from '../../contracts/index.ts'
import { type EquippedPlugin, equipPlugin, hashOf, type PluginServices } from '../../kernel/index.ts'

/** Where rows may be kept, and what tells the code of a plugin from its next version. */
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
  readonly projectDir?: string
  /** Absent: rows are made at every start. */
  readonly cache?: RowCache
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

export function planRows({
  data,
  services,
  projectDir,
}: Pick<RowRequest, 'data' | 'services' | 'projectDir'>): RowPlan {
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
  const root = projectDir ?? process.cwd()
  const sourceContext: SourceContext = {
    data: shown(data, projectDir),
    resolve: (path) => resolve(root, path),
    ...(projectDir === undefined ? {} : { projectDir }),
  }
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
