// All points of a run in a few bytes per metric. They are read a page at a time: a run may have more of them than memory holds.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../kernel/index.ts'
import type { Database } from './database.ts'
import { COARSE_STEPS } from './rollup.ts'

const PAGE = 10_000

/** Per metric that `isWanted`: how many points, and the hash of `[[step, value], ...]` as canonical JSON. */
export async function hashPoints(
  database: Database,
  runId: string,
  isWanted: (metric: string) => boolean,
): Promise<Record<string, { n: number; hash: string }>> {
  const metrics = await database.query
    .selectFrom('run')
    .innerJoin('point_rollup', 'point_rollup.run_ix', 'run.ix')
    .innerJoin('metric_key', 'metric_key.ix', 'point_rollup.key_ix')
    .select(['run.ix as run', 'metric_key.ix as key', 'metric_key.name'])
    .distinct()
    .where('run.id', '=', runId)
    .where('point_rollup.width', '=', COARSE_STEPS)
    .orderBy('metric_key.name')
    .execute()
  const hashes: Record<string, { n: number; hash: string }> = {}
  for (const { run, key, name } of metrics) if (isWanted(name)) hashes[name] = await hashMetric(database, run, key)
  return hashes
}

async function hashMetric(database: Database, run: number, key: number): Promise<{ n: number; hash: string }> {
  const hash = createHash('sha256').update('[')
  let n = 0
  let last = -1
  for (;;) {
    const page = await database.query
      .selectFrom('point')
      .select(['step', 'value'])
      .where('run_ix', '=', run)
      .where('key_ix', '=', key)
      .where('step', '>', last)
      .orderBy('step')
      .limit(PAGE)
      .execute()
    const end = page.at(-1)
    if (end === undefined) break
    const pairs = canonicalJson(page.map(({ step, value }) => [step, value])).slice(1, -1)
    hash.update(n === 0 ? pairs : `,${pairs}`)
    n += page.length
    last = end.step
  }
  return { n, hash: hash.update(']').digest('hex') }
}
