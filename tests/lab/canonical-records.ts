// What the record of a project holds, in the form that must be equal between executions.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../src/store/index.ts'

/** The canonical records of the experiments of a project, newest first, checkpoints by their bytes. */
export async function canonicalRecords(file: string): Promise<unknown[]> {
  await using store = await openStore(recordOf(file))
  const experiments = await store.experiments({ limit: 10 })
  const contentOf = (ref: string) => (ref.startsWith('tinker:') ? weightsOf(file, ref) : contentOfFile(ref))
  return await Promise.all(experiments.map(({ id }) => store.canonicalRecord(id, { contentOf })))
}

/** How the experiments of a project stand, newest first. */
export async function statuses(file: string): Promise<string[]> {
  await using store = await openStore(recordOf(file))
  return (await store.experiments({ limit: 10 })).map(({ status }) => status)
}

/** The database of the project that an experiment file lies in. */
export function recordOf(file: string): string {
  return join(dirname(file), '.evsys', 'evsys.db')
}

/** The hash that a local trainer has noted of weights that it saved. */
async function weightsOf(file: string, ref: string): Promise<string> {
  const [, run = '', folder = '', name = ''] = /^tinker:\/\/([^/]+)\/([^/]+)\/(.+)$/.exec(ref) ?? []
  const saved = join(dirname(file), '.evsys/trainer/runs', encodeURIComponent(run), folder, `${name}.json`)
  return String(JSON.parse(readFileSync(saved, 'utf8')).sha256)
}

async function contentOfFile(ref: string): Promise<string> {
  const path = fileURLToPath(ref.replace(/^mock:/, 'file:'))
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
