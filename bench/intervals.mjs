// How often printed 90 % intervals hold the truth, and how often a claim is called supported that is not, in worlds of known truth: 20 to
// 400 tasks, 1 to 5 seeds. What is measured is what `evsys run` prints: recorded evaluations in, evidence out. Exits with 1 when a cell is
// out of bounds by more than its error.
//
//   node bench/intervals.mjs [EXPERIMENTS] [BASE] [WORLD] [TASKS]      default 1000 for each cell of every world; BASE: another checkout,
//                                                                      for its figures beside, or - for none; TASKS: of one size alone
//
// Experiments that the product marks as not calibrated count for no bound; their figures stand beside, in brackets.

import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { printTable } from './best-of.mjs'
import { openWorlds } from './intervals/worlds.mjs'

const experiments = Number(process.argv[2] ?? 1000)
const here = fileURLToPath(new URL('..', import.meta.url))
const [, , , base = '-', only, size] = process.argv
const checkouts = [here, ...(base === '-' ? [] : [resolve(base)])]
const least = 0.87
const most = 0.95
const mostFalse = 0.05

/** @typedef {{ arm: number, effect: number, claimed: number, nulls: number, n: number }} Found */

/** @returns {Found} */
const none = () => ({ arm: 0, effect: 0, claimed: 0, nulls: 0, n: 0 })

/** @param {string} checkout */
async function open(checkout) {
  const jiti = createJiti(import.meta.url)
  /** @type {typeof import('../src/record/evidence/weigh-evidence.ts')} */
  const { weighEvidence } = await jiti.import(join(checkout, 'src/record/evidence/weigh-evidence.ts'))
  /** @type {typeof import('../src/record/evidence/evidence-of.ts')} */
  const { metricOf } = await jiti.import(join(checkout, 'src/record/evidence/evidence-of.ts'))
  const known = new Map([
    ['pass@1', metricOf('pass@1')],
    ['mean_reward', metricOf('mean_reward')],
  ])
  return (/** @type {Parameters<typeof weighEvidence>[0]} */ options) =>
    weighEvidence({ ...options, metricOf: (kind) => known.get(kind) })
}

const jiti = createJiti(import.meta.url)
const worlds = openWorlds(
  /** @type {typeof import('../src/kernel/index.ts')} */ (await jiti.import('../src/kernel/index.ts')),
  /** @type {typeof import('../src/evaluate/scorer/task-scores.ts')} */ (
    await jiti.import('../src/evaluate/scorer/task-scores.ts')
  ),
)
const weigh = await Promise.all(checkouts.map(open))
const percent = (/** @type {number} */ share) => (Number.isNaN(share) ? '' : `${(100 * share).toFixed(1)} %`)
const holds = (/** @type {readonly [number, number] | null | undefined} */ interval, /** @type {number} */ truth) =>
  interval != null && interval[0] <= truth + 1e-12 && truth - 1e-12 <= interval[1]

const rows = [
  [
    'world',
    'tasks',
    'seeds',
    'arm',
    'effect',
    'false claims',
    'not calibrated',
    ...checkouts.slice(1).flatMap(() => ['arm before', 'effect before', 'false claims before']),
  ],
]
let isOut = false
for (const world of worlds.filter(({ name }) => only === undefined || name === only)) {
  for (const tasks of size === undefined ? [20, 60, 150, 400] : [Number(size)]) {
    for (const seeds of [1, 2, 3, 5]) {
      const found = checkouts.map(none)
      const marked = none()
      for (let i = 0; i < experiments; i++) {
        const drawn = world.draw({ tasks, seeds, experiment: i })
        for (const [k, counted] of found.entries()) {
          const evidence = weigh[k]?.({ plan: drawn.plan, runs: drawn.runs, metricOf: () => undefined })
          const each = k === 0 && evidence?.claim?.overall.too_few !== undefined ? marked : counted
          each.n++
          each.arm += Number(holds(evidence?.arms.find(({ name }) => name === 'old')?.score?.ci, drawn.truth.old))
          each.effect += Number(holds(evidence?.claim?.overall.interval, drawn.truth.new - drawn.truth.old))
          if (!drawn.isNull) continue
          each.nulls++
          each.claimed += Number(evidence?.verdict === 'supported')
        }
      }
      const figures = (/** @type {Found} */ { arm, effect, claimed, nulls, n }) => [
        percent(arm / n),
        percent(effect / n),
        seeds === 1 ? 'none' : percent(claimed / nulls),
      ]
      const beside = marked.n === 0 ? '' : ` (${figures(marked).join(', ')})`
      rows.push([
        world.name,
        String(tasks),
        String(seeds),
        ...found.flatMap((each, k) => [
          ...figures(each),
          ...(k > 0 ? [] : [`${percent(marked.n / experiments)}${beside}`]),
        ]),
      ])
      const [own] = found
      if (own === undefined) continue
      const error = 2 * Math.sqrt(0.09 / own.n)
      const falseError = 2 * Math.sqrt((mostFalse * (1 - mostFalse)) / own.nulls)
      const shares = [own.arm / own.n, own.effect / own.n]
      const isFine = shares.every((share) => share > least - error && share < most + error)
      if (!isFine || own.claimed / own.nulls > mostFalse + falseError) {
        isOut = true
        console.error(`out of bounds: ${rows.at(-1)?.join(', ')}`)
      }
    }
  }
}
printTable(rows)
process.exitCode = isOut ? 1 : 0
