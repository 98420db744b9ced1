// Why few tasks of a class leave no calibrated interval of macro-F1: how often the printed 90 % interval holds the truth, by how many tasks
// of the rarest class there are, with 20, 40 and 60 tasks, in the world of `intervals.mjs` (other draws) or with other shares of its classes.
//
//   node bench/intervals/rare-classes.mjs [EXPERIMENTS] [SHARES]      default 2000 for each size; SHARES: 0.79,0.07,0.07,0.07

import { createJiti } from 'jiti'
import { printTable } from '../best-of.mjs'
import { openWorlds } from './worlds.mjs'

const experiments = Number(process.argv[2] ?? 2000)
const jiti = createJiti(import.meta.url)
/** @type {typeof import('../../src/record/evidence/weigh-evidence.ts')} */
const { weighEvidence } = await jiti.import('../../src/record/evidence/weigh-evidence.ts')
/** @type {typeof import('../../src/kernel/index.ts')} */
const kernel = await jiti.import('../../src/kernel/index.ts')
/** @type {typeof import('../../src/evaluate/scorer/task-scores.ts')} */
const scorer = await jiti.import('../../src/evaluate/scorer/task-scores.ts')
const shares = process.argv[3]?.split(',').map(Number)
const world = openWorlds(kernel, scorer, 21, shares).find(({ name }) => name === 'macro-F1')
/** @type {[number, number][]} */
const bands = [
  [0, 0],
  [1, 1],
  [2, 2],
  [3, 4],
  [5, 9],
  [10, Number.POSITIVE_INFINITY],
]
const holds = (/** @type {readonly [number, number] | null | undefined} */ interval, /** @type {number} */ truth) =>
  interval != null && interval[0] <= truth + 1e-12 && truth - 1e-12 <= interval[1]
const rows = [['tasks of the rarest class', 'seeds', 'experiments', 'arm', 'effect', 'false claims']]
for (const seeds of [1, 2, 3]) {
  const found = bands.map(() => ({ n: 0, arm: 0, effect: 0, nulls: 0, claimed: 0 }))
  for (const tasks of [20, 40, 60]) {
    for (let i = 2; i < experiments + 2; i++) {
      const drawn = world?.draw({ tasks, seeds, experiment: i })
      if (drawn === undefined) throw new Error('the world of macro-F1 is gone')
      const codes = Object.values(drawn.runs[0]?.evals[0]?.rewards ?? {}).map(([code]) => Math.floor((code ?? 0) / 4))
      const rarest = Math.min(...[0, 1, 2, 3].map((own) => codes.filter((each) => each === own).length))
      const evidence = weighEvidence({ plan: drawn.plan, runs: drawn.runs, metricOf: () => undefined })
      const each = found[bands.findIndex(([from, to]) => rarest >= from && rarest <= to)]
      if (each === undefined) continue
      each.n++
      each.arm += Number(holds(evidence.arms.find(({ name }) => name === 'old')?.score?.ci, drawn.truth.old))
      each.effect += Number(holds(evidence.claim?.overall.interval, drawn.truth.new - drawn.truth.old))
      each.nulls += Number(drawn.isNull)
      each.claimed += Number(drawn.isNull && evidence.verdict === 'supported')
    }
  }
  for (const [k, { n, arm, effect, nulls, claimed }] of found.entries()) {
    const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`
    const [from, to] = bands[k] ?? [0, 0]
    const band = from === to ? String(from) : Number.isFinite(to) ? `${from} to ${to}` : `${from} and more`
    rows.push([
      band,
      String(seeds),
      String(n),
      percent(arm / n),
      percent(effect / n),
      seeds === 1 ? 'none' : percent(claimed / nulls),
    ])
  }
}
printTable(rows)
