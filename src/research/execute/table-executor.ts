// Candidates whose results are known: a configuration is looked up in a table of finished trainings.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import * as z from 'zod'
import {
  type AttemptFailure,
  type CandidateFiles,
  type Executor,
  KnobValue,
  type LookUpTable,
  type ResearchTask,
} from '../../contracts/index.ts'
import { closest, EvsysError } from '../../kernel/index.ts'

const Header = z.looseObject({
  seeds: z.int().min(1),
  axes: z.array(z.looseObject({ name: z.string(), values: z.array(KnobValue).min(1) })).min(1),
})
type Header = z.infer<typeof Header>
const Config = z.record(z.string(), z.unknown())

const file = 'config.json'
const largestTable = 1 << 30

export async function openTableExecutor(task: ResearchTask, table: LookUpTable): Promise<Executor> {
  const header = Header.parse(JSON.parse(await readFile(table.header, 'utf8')))
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
function placeOf(header: Header, files: CandidateFiles): number | AttemptFailure[] {
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
