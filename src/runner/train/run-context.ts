// What the plugins of one run are handed. Randomness is rooted in the run's seed, secrets are those a plugin declared.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SharedParams } from '../../algorithms/index.ts'
import {
  type Context,
  type DataConfig,
  type Datum,
  type GivenTrainer,
  type OpenBackend,
  type OpenEnvironment,
  type OpenRenderer,
  type Plugin,
  type PluginSpec,
  type PluginType,
  type PluginTypes,
  type Renderer,
  type RowFormat,
  type RowOf,
  type RunConfig,
  type SealedBenchmark,
  SealedTask,
  type Tokenizer,
} from '../../contracts/index.ts'
import {
  createLeakIndex,
  isDamaged,
  type LeakIndex,
  leakOf,
  type OpenRows,
  openRows,
  type RowCache,
  type RowManifest,
  type RowRequest,
} from '../../data/index.ts'
import { canonicalJson, checkValue, EvsysError, hashOf, type PluginServices } from '../../kernel/index.ts'

export interface RunServices extends PluginServices {
  /** Where stored datasets lie and rows are kept. Absent: neither is known, and rows are made at every start. */
  readonly data?: RunData | undefined
  /** The trainer that the run was given; absent: it starts one where it needs one. */
  readonly trainer?: (() => Promise<GivenTrainer>) | undefined
  /** Opens a sandbox for code that a model wrote; absent: this process can do so itself. */
  readonly openSandbox?: (() => Promise<OpenEnvironment>) | undefined
}

export interface RunData {
  readonly projectDir?: string | undefined
  readonly cache?: RowCache | undefined
  /** Benchmarks whose questions are left out of the rows, by name. Absent: none. */
  readonly leaks?: (() => Promise<ReadonlyMap<string, LeakIndex>>) | undefined
  /** Hears of rows that were loaded. */
  onLoaded?: ((loaded: LoadedRows<RowFormat>) => Promise<void>) | undefined
  /** The renderer with the tokens of those rows at hand. */
  withTokens?:
    | ((renderer: OpenRenderer, of: { plugin: Renderer; backend: OpenBackend }) => Promise<OpenRenderer>)
    | undefined
  /** Hears of every batch before it is trained on. */
  onBatch?: ((batch: readonly Datum[], tokenizer: Tokenizer) => void) | undefined
}

interface Equipped<P extends Plugin> {
  readonly plugin: P
  readonly context: Context<unknown>
}

/** Finds the plugin that a spec names, checks the params, and makes its context. */
export function equip<T extends PluginType>(
  type: T,
  spec: PluginSpec,
  services: RunServices,
): Equipped<PluginTypes[T]> {
  const { plugin, params: fromKind } = services.registry.get(type, spec.kind)
  const checked = checkValue(plugin.params, { ...spec.params, ...fromKind })
  if (!checked.ok) {
    const faults = checked.issues.map(({ path, message }) => [...path, message].join(': '))
    throw new EvsysError('PLUGIN_PARAMS', `${type} "${spec.kind}": ${faults.join('; ')}`, {
      fix: `\`evsys schema ${type} ${spec.kind}\` prints what it takes`,
    })
  }
  return {
    plugin: plugin as unknown as PluginTypes[T], // the registry keeps one table per type
    context: contextOf(plugin, checked.value, services),
  }
}

function contextOf<P>(
  { kind, needs }: Plugin,
  params: P,
  { signal, random, log, secret, address }: RunServices,
): Context<P> {
  return {
    params,
    signal,
    log,
    random,
    address,
    secret(name) {
      if (needs?.secrets?.includes(name)) return secret(name)
      throw new EvsysError('SECRET_MISSING', `"${kind}" asks for the secret ${name} without declaring it`, {
        fix: `declare it: needs: { secrets: ['${name}'] }`,
      })
    },
  }
}

// From the data block of a run to typed rows, from the cache where it has them. The hash covers the rows as they are trained on,
// after every transform.
interface LoadedRows<F extends RowFormat> {
  readonly rows: readonly RowOf[F][]
  readonly hash: string
  /** Key of the cache; absent where the rows are not cached. */
  readonly key: string | undefined
  readonly manifest: RowManifest
  /** Rows that were left out. */
  readonly leaked: number
}

export async function loadRows<F extends RowFormat>(
  data: DataConfig,
  format: F,
  services: RunServices,
): Promise<LoadedRows<F>> {
  const { projectDir, cache } = services.data ?? {}
  const request = { data, format, services, projectDir, cache }
  const loaded = await withoutLeaks(await loadOrRepair(request, services), services)
  await services.data?.onLoaded?.(loaded)
  return loaded
}

async function loadOrRepair<F extends RowFormat>(request: RowRequest<F>, { log }: RunServices): Promise<LoadedRows<F>> {
  try {
    return await collect(await openRows(request))
  } catch (error) {
    if (!EvsysError.is(error) || !isDamaged(error)) throw error
    log('warn', error.message)
    return await collect(await openRows(request)) // once: it is made anew from the source
  }
}

async function collect<F extends RowFormat>(opened: OpenRows<F>): Promise<LoadedRows<F>> {
  const rows: RowOf[F][] = []
  for await (const { row } of opened.rows()) rows.push(row)
  const manifest = opened.manifest()
  if (manifest === undefined)
    throw new EvsysError('INTERNAL', 'rows were read to their end and nothing is known of them')
  return { rows, hash: manifest.hash, key: opened.key, manifest, leaked: 0 }
}

// The rows without those that repeat questions: hash, count and lineage are of what is left.
async function withoutLeaks<F extends RowFormat>(loaded: LoadedRows<F>, { data }: RunServices): Promise<LoadedRows<F>> {
  const indices = await data?.leaks?.()
  if (indices === undefined || indices.size === 0) return loaded
  const rows = loaded.rows.filter((row) => [...indices.values()].every((index) => leakOf(row, index) === undefined))
  const leaked = loaded.rows.length - rows.length
  if (leaked === 0) return loaded
  const hash = createHash('sha256')
  for (const row of rows) hash.update(`${canonicalJson(row)}\n`)
  const { lineage, ...manifest } = loaded.manifest
  const params = { benchmarks: [...indices.keys()] }
  const step = { kind: 'drop_leaks', params, code_hash: '', rows: rows.length }
  const digest = hash.digest('hex')
  const left = { ...manifest, rows: rows.length, hash: digest }
  const transforms = [...lineage.transforms, step]
  return { rows, hash: digest, key: undefined, leaked, manifest: { ...left, lineage: { ...lineage, transforms } } }
}

/** The questions of benchmarks that are left out of training rows. */
export async function droppedQuestions(benchmarks: readonly SealedBenchmark[]): Promise<Map<string, LeakIndex>> {
  const dropping = benchmarks.filter(({ drop_leaks }) => drop_leaks === true)
  const indices = dropping.map(async ({ name, tasks_file, chat_template }) => {
    if (tasks_file === undefined) throw new EvsysError('INTERNAL', `the questions of benchmark "${name}" have no file`)
    const tasks = await readSealedTasks(tasks_file)
    return [name, createLeakIndex(tasks, { template: chat_template.user_template })] as const
  })
  return new Map(await Promise.all(indices))
}

// The questions of a benchmark: what is asked, and never what is expected.
export async function readSealedTasks(file: string): Promise<SealedTask[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [SealedTask.parse(JSON.parse(line))]))
}

// The rows of a run: its data, and what is mixed in.

/** One dataset after the other; each epoch has its own order, so that they mix. */
export async function loadAllRows<F extends RowFormat>(
  { data, mix = [] }: Pick<RunConfig, 'data' | 'mix'>,
  format: F,
  services: RunServices,
): Promise<{ rows: readonly RowOf[F][]; hash: string; leaked: number }> {
  const first = await loadRows(data, format, services)
  if (mix.length === 0) return first
  const parts = [first]
  for (const more of mix) parts.push(await loadRows(more, format, services))
  const leaked = parts.reduce((sum, part) => sum + part.leaked, 0)
  return { rows: parts.flatMap(({ rows }) => rows), hash: hashOf(parts.map(({ hash }) => hash)), leaked }
}

type Renderers = ReturnType<typeof equip<'renderer'>>

/**
 * The renderer that a run names, or the two that its model decides between: without a chat template, with one. Both count as
 * code of the run, so that its hash can be computed again without opening the model.
 */
export function equipRenderers(
  { model }: Pick<RunConfig, 'model'>,
  { renderer_name }: Pick<SharedParams, 'renderer_name'>,
  services: RunServices,
): [Renderers, Renderers?] {
  const of = (kind: string) => equip('renderer', { kind, params: {} }, services)
  const named = renderer_name ?? model.renderer_name
  return named === undefined ? [of('plain_chat'), of('chat_template')] : [of(named)]
}
