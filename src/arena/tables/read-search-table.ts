// Tables from a folder: a header in JSON and a gzip'd body of float32 for each. Both come from outside: every size is checked before
// memory is taken for it.
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import * as z from 'zod'
import { KnobValue } from '../../contracts/index.ts'
import { EvsysError, fileError, formatZodIssue, messageOf } from '../../kernel/index.ts'
import type { SearchTable } from './search-table.ts'

const mostHeaderBytes = 1 << 20
const mostBodyBytes = 1 << 29
/** 400 MB of float32. */
const mostNumbers = 100_000_000

const Axis = z.looseObject({
  name: z.string().min(1).max(100),
  values: z
    .array(KnobValue)
    .min(1)
    .max(10_000)
    .refine((values) => new Set(values).size === values.length, 'a value stands there twice'),
})
const Header = z.looseObject({
  name: z.string().min(1).max(100),
  direction: z.enum(['minimize', 'maximize']),
  seeds: z.int().min(1).max(10_000),
  axes: z
    .array(Axis)
    .min(1)
    .max(64)
    .refine((axes) => new Set(axes.map(({ name }) => name)).size === axes.length, 'two axes have one name'),
})

/** Every table of a folder, by name: each `NAME.json` that has a `NAME.f32.gz` beside it. */
export async function readSearchTables(dir: string): Promise<SearchTable[]> {
  const files = await readdir(dir).catch((cause) => {
    throw new EvsysError('DATA_READ', `${dir}: ${messageOf(cause)}`, { cause, fix: 'name a folder with tables.' })
  })
  const bodies = new Set(files.filter((file) => file.endsWith('.f32.gz')))
  const headers = files.filter((file) => file.endsWith('.json') && bodies.has(`${basename(file, '.json')}.f32.gz`))
  if (headers.length === 0) {
    throw new EvsysError('DATA_READ', `${dir} holds no table`, {
      fix: 'name a folder with pairs of NAME.json (name, direction, seeds, axes) and NAME.f32.gz.',
    })
  }
  const tables: SearchTable[] = []
  for (const header of headers.sort()) tables.push(await readSearchTable(join(dir, header)))
  const names = tables.map(({ name }) => name)
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined) throw invalid(dir, `two tables are called "${twice}"`)
  return tables
}

/** The table of a header file; its body lies beside it. */
async function readSearchTable(file: string): Promise<SearchTable> {
  const header = readHeader(file, await readBytes(file, mostHeaderBytes))
  const { name, direction, seeds, axes } = header
  const count = axes.reduce((product, { values }) => product * values.length, seeds)
  if (count > mostNumbers) throw invalid(file, `${count} numbers are more than the ${mostNumbers} that are read`)
  const body = file.replace(/\.json$/, '.f32.gz')
  const bytes = await inflate(body, await readBytes(body, mostBodyBytes), count * 4)
  if (bytes.byteLength !== count * 4) {
    throw invalid(body, `${bytes.byteLength} bytes, but the axes and seeds of its header make ${count * 4}`)
  }
  const values = new Float32Array(count)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let i = 0; i < count; i++) values[i] = view.getFloat32(i * 4, true)
  return { name, direction: direction === 'minimize' ? 'min' : 'max', seeds, axes, values }
}

function readHeader(file: string, bytes: Uint8Array): z.infer<typeof Header> {
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw invalid(file, `not JSON: ${messageOf(cause)}`, cause)
  }
  const parsed = Header.safeParse(document)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue === undefined) throw invalid(file, 'not a header')
  const says = issue.code === 'custom' ? issue.message : formatZodIssue(issue)
  throw invalid(file, `${issue.path.join('.')}: ${says}`)
}

async function readBytes(file: string, most: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size > most) throw invalid(file, `${size} bytes are more than the ${most} that are read`)
    return await readFile(file)
  } catch (cause) {
    if (EvsysError.is(cause)) throw cause
    throw fileError('read', file, cause)
  }
}

async function inflate(file: string, packed: Uint8Array, sizeBytes: number): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: sizeBytes + 1 })
  } catch (cause) {
    throw invalid(file, messageOf(cause), cause)
  }
}

function invalid(file: string, what: string, cause?: unknown): EvsysError {
  return new EvsysError('DATA_INVALID', `${file}: ${what}`, {
    fix: 'a table is NAME.json (name, direction, seeds, axes) with NAME.f32.gz: float32, little-endian, seeds innermost.',
    cause,
  })
}
