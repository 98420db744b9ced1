// A table of finished trainings as a task: its axes are the knobs, and a candidate is one configuration in `config.json`.
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import {
  type CandidateFiles,
  type Direction,
  type KnobSpec,
  KnobValue,
  type LookUpTable,
} from '../../contracts/index.ts'
import { EvsysError, fileError, sha256 } from '../../kernel/index.ts'

/** The part of a header that decides what a search may do. */
const TableHeader = z.looseObject({
  name: z.string().min(1),
  direction: z.enum(['minimize', 'maximize']),
  seeds: z.int().min(1),
  axes: z.array(z.looseObject({ name: z.string().min(1), values: z.array(KnobValue).min(1) })).min(1),
})

export interface ReadTable {
  readonly table: LookUpTable
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
export function tableNamed(name: string, env: Readonly<Record<string, string | undefined>>): LookUpTable {
  if (!env.EVSYS_DATA_DIR) {
    throw new EvsysError(
      'DATA_READ',
      `no variant is called "${name}", and EVSYS_DATA_DIR names no folder with tables`,
      {
        fix: `set EVSYS_DATA_DIR to a folder that holds ${folder}/${name}.json, or leave /${name} out for the built-in table.`,
      },
    )
  }
  const base = resolve(env.EVSYS_DATA_DIR, folder, name)
  return { header: `${base}.json`, values: `${base}.f32.gz` }
}

/** The table that `prepare` made. */
export function preparedTable(dir: string): LookUpTable {
  return { header: join(dir, 'table', 'table.json'), values: join(dir, 'table', 'table.f32.gz') }
}

/** Reads the header of a table; its values are read where it is looked up. */
export async function readTable(table: LookUpTable): Promise<ReadTable> {
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
    baseline: { 'config.json': `${JSON.stringify(config, null, 2)}\n` },
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
