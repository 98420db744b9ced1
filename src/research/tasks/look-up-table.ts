// A table of finished trainings as a task: its axes are the knobs, and a candidate is one configuration in `config.json`.
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import * as z from 'zod'
import {
  type AttemptFailure,
  type CandidateFiles,
  type Direction,
  type Executor,
  type KnobSpec,
  KnobValue,
  type LookupTable,
  type ResearchTask,
} from '../../contracts/index.ts'
import { closest, EvsysError, fileError, sha256 } from '../../kernel/index.ts'

/** The part of a header that decides what a search may do. */
const TableHeader = z.looseObject({
  name: z.string().min(1),
  direction: z.enum(['minimize', 'maximize']),
  seeds: z.int().min(1),
  axes: z.array(z.looseObject({ name: z.string().min(1), values: z.array(KnobValue).min(1) })).min(1),
})

export interface ReadTable {
  readonly table: LookupTable
  readonly name: string
  readonly direction: Direction
  readonly seeds: number
  readonly knobs: Readonly<Record<string, KnobSpec>>
  /** The middle of every axis. */
  readonly baseline: CandidateFiles
  readonly hash: string
}

/** The tables that EVSYS_DATA_DIR brings along lie here. */
const folder = 'search-tables'

/** Where the table of a name would be. */
export function tableNamed(name: string, env: Readonly<Record<string, string | undefined>>): LookupTable {
  if (!env.EVSYS_DATA_DIR) {
    const message = `no variant is called "${name}", and EVSYS_DATA_DIR names no folder with tables`
    throw new EvsysError('DATA_READ', message, {
      fix: `set EVSYS_DATA_DIR to a folder that holds ${folder}/${name}.json, or leave /${name} out for the built-in table.`,
    })
  }
  const base = resolve(env.EVSYS_DATA_DIR, folder, name)
  return { header: `${base}.json`, values: `${base}.f32.gz` }
}

/** The table that `prepare` made. */
export function preparedTable(dir: string): LookupTable {
  return { header: join(dir, 'table', 'table.json'), values: join(dir, 'table', 'table.f32.gz') }
}

/** Reads the header of a table; its values are read where it is looked up. */
export async function readTable(table: LookupTable): Promise<ReadTable> {
  const text = await readFile(table.header, 'utf8').catch((cause) => {
    throw fileError('read', table.header, cause)
  })
  const parsed = TableHeader.safeParse(jsonOf(text, table.header))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new EvsysError('DATA_INVALID', `${table.header}: ${issue?.path.join('.')}: ${issue?.message}`)
  }
  const { name, direction, seeds, axes } = parsed.data
  await stat(table.values).catch((cause) => {
    throw fileError('read', table.values, cause)
  })
  const config = Object.fromEntries(axes.map((axis) => [axis.name, axis.values[axis.values.length >> 1]]))
  const isOrdered = (values: readonly KnobValue[]) => values.every((value) => typeof value === 'number')
  return {
    table,
    name,
    direction: direction === 'minimize' ? 'min' : 'max',
    seeds,
    knobs: Object.fromEntries(
      axes.map(({ name: axis, values }) => [axis, { kind: 'choice', values, ordered: isOrdered(values) }]),
    ),
    baseline: { [file]: `${JSON.stringify(config, null, 2)}\n` },
    hash: sha256(`${sha256(text)}${sha256(await readFile(table.values))}`),
  }
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new EvsysError('DATA_INVALID', `${file} is no JSON`, { cause })
  }
}

const Config = z.record(z.string(), z.unknown())

const file = 'config.json'
const largestTable = 1 << 30

/** Runs candidates whose results are known: a configuration is looked up in a table of finished trainings. */
export async function openTableExecutor(task: ResearchTask, table: LookupTable): Promise<Executor> {
  const header = TableHeader.parse(JSON.parse(await readFile(table.header, 'utf8')))
  const bytes = await promisify(gunzip)(await readFile(table.values), { maxOutputLength: largestTable })
  const count = header.axes.reduce((product, { values }) => product * values.length, header.seeds)
  if (bytes.length !== count * 4)
    throw new EvsysError('DATA_INVALID', `${table.values} holds ${bytes.length / 4} values; its axes need ${count}`)
  const failed = (failure: AttemptFailure) => ({ status: 'failed' as const, failure, wallS: 0 })
  return {
    task,
    async check(files, signal) {
      signal.throwIfAborted()
      const place = placeOf(header, files)
      return typeof place === 'number' ? [] : place
    },
    async run({ files, seed }, signal) {
      signal.throwIfAborted()
      const place = placeOf(header, files)
      if (typeof place !== 'number')
        return failed(place[0] ?? { class: 'validation', reason: `${file} names no configuration` })
      const value = bytes.readFloatLE((place * header.seeds + (Math.abs(seed) % header.seeds)) * 4)
      if (!Number.isFinite(value))
        return failed({ class: 'divergence', reason: 'the table holds no result for this configuration and seed' })
      return { status: 'scored', value, secondary: {}, wallS: 0, level: 'in-process' }
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** Number of the configuration among all, or what is wrong with it. */
function placeOf(header: z.infer<typeof TableHeader>, files: CandidateFiles): number | AttemptFailure[] {
  const failures: AttemptFailure[] = []
  const say = (reason: string) => failures.push({ class: 'validation', reason: `${file}: ${reason}` })
  for (const name of Object.keys(files))
    if (name !== file) say(`the candidate is this file alone, not ${JSON.stringify(name)}`)
  const config = configOf(files)
  if (config === undefined)
    return [{ class: 'syntax', reason: `${file} is no JSON object; fix: write {"axis": value, ...}` }]
  const names = header.axes.map(({ name }) => name)
  for (const name of Object.keys(config))
    if (!names.includes(name))
      say(`there is no axis ${JSON.stringify(name)}; fix: did you mean ${closest(name, names) ?? names.join(', ')}?`)
  let place = 0
  for (const { name, values } of header.axes) {
    const at = values.findIndex((value) => Object.is(value, config[name]))
    if (at < 0) say(`${name} is ${JSON.stringify(config[name])}; fix: choose one of ${values.slice(0, 20).join(', ')}`)
    place = place * values.length + Math.max(0, at)
  }
  return failures.length === 0 ? place : failures
}

function configOf(files: CandidateFiles): Record<string, unknown> | undefined {
  try {
    const config = Config.safeParse(JSON.parse(files[file] ?? ''))
    return config.success ? config.data : undefined
  } catch {
    return undefined
  }
}
