// Lines of ours.mjs and peers.py beside each other: the median distance from the best after half and after all of the trainings, with 90 %
// intervals by bootstrap over sessions, and in how many of a hundred pairs of sessions ours is ahead.
//   node bench/surface/compare.mjs FILE... [--at 60,120]
import { readFileSync } from 'node:fs'
import { keyedRandom } from '../../build/kernel/index.js'

const args = process.argv.slice(2)
const flag = args.indexOf('--at')
const at = (flag < 0 ? '60,120' : (args[flag + 1] ?? '')).split(',').map(Number)
const files = flag < 0 ? args : args.slice(0, flag)

/** @typedef {{ table: string, contender: string, session: number, regret: (number | null)[], rank: number }} Line */
/** @type {Line[]} */
const lines = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)),
)

/** @param {readonly number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** @param {readonly number[]} values @param {string} name */
function interval(values, name) {
  const random = keyedRandom(1, 'compare', name)
  const medians = Array.from({ length: 2000 }, () => median(values.map(() => random.pick(values)))).sort(
    (a, b) => a - b,
  )
  return [medians[100] ?? Number.NaN, medians[1899] ?? Number.NaN]
}

/** @param {number} value */
const shown = (value) => (Math.abs(value) >= 0.001 || value === 0 ? value.toPrecision(3) : value.toExponential(1))

for (const table of [...new Set(lines.map((line) => line.table))].sort()) {
  const own = lines.filter((line) => line.table === table)
  const contenders = [...new Set(own.map(({ contender }) => contender))].sort(
    (a, b) => Number(b === 'evsys') - Number(a === 'evsys'),
  )
  console.log(
    `\n| ${table} | sessions | ${at.map((n) => `after ${n} trainings | evsys ahead`).join(' | ')} | rank at the end |`,
  )
  console.log(`| --- | --- | ${at.map(() => '--- | ---').join(' | ')} | --- |`)
  for (const contender of contenders) {
    const sessions = own.filter((line) => line.contender === contender)
    const cells = at.map((n) => {
      const of = (/** @type {Line} */ { regret }) => regret[n - 1] ?? Number.NaN
      const values = sessions.map(of)
      const [low, high] = interval(values, `${table} ${contender} ${n}`)
      const ours = own.filter((line) => line.contender === 'evsys').map(of)
      /** @type {number[]} */
      const wins = ours.flatMap((a) => values.map((b) => (a < b ? 1 : a > b ? 0 : 0.5)))
      const ahead =
        contender === 'evsys' ? '' : `${Math.round((100 * wins.reduce((sum, each) => sum + each, 0)) / wins.length)} %`
      return `${shown(median(values))} (${shown(low ?? Number.NaN)} to ${shown(high ?? Number.NaN)}) | ${ahead}`
    })
    console.log(
      `| ${contender} | ${sessions.length} | ${cells.join(' | ')} | ${median(sessions.map(({ rank }) => rank))} |`,
    )
  }
}
