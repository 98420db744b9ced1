// Keep rules in sessions of known truth, and how often a session claims what is not so. Exits with 1 when the null world confirms more
// than it may, on sets without end or of few items, what is reported there is off on average, or an interval covers less than it says.
//
//   node bench/research-keep.mjs [SESSIONS] [--items]      --items: no more than the null worlds; default 2000 for the null world, an eighth of them for the other tables

import { createJiti } from 'jiti'
import { printTable } from './best-of.mjs'

const jiti = createJiti(import.meta.url)
/** @type {typeof import('./research/simulated-runs.ts')} */
const { openItemWorld, openWorld } = await jiti.import('./research/simulated-runs.ts')
/** @type {typeof import('./research/summarize-sessions.ts')} */
const { simulateSessions } = await jiti.import('./research/summarize-sessions.ts')
/** @type {typeof import('../src/research/keep/keep-rules.ts')} */
const { defaultRule, greedyRule, referenceRule } = await jiti.import('../src/research/keep/keep-rules.ts')

const mostFalse = 0.06
const mostBias = 0.1
const sessions = Number(process.argv[2] ?? 2000)
const fewer = Math.ceil(sessions / 8)
const seed = 1

const presets = /** @type {const} */ (['explore', 'balanced', 'strict'])
const rules = [
  { name: 'greedy', rule: greedyRule },
  { name: 'reference', rule: referenceRule },
  ...presets.map((preset) => ({ name: `default, ${preset}`, rule: defaultRule, params: { preset } })),
]
const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`

console.log(
  `\nNull world: ${sessions} sessions of 150 runs, no idea does anything. Bias in units of the noise of one paired difference.`,
)
const nulls = [0, 0.6].flatMap((rho) =>
  presets.map((preset) => {
    const options = { world: openWorld('null', rho), rule: defaultRule, params: { preset }, runs: 150, seed }
    return { rho, preset, sigma: Math.sqrt(2 * (1 - rho)), summary: simulateSessions(options, sessions) }
  }),
)
printTable([
  ['preset', 'rho', 'keeps', 'evaluated', 'confirmed', 'at most (95 %)', 'bias', 'bias given confirmed', 'shrunken'],
  ...nulls.map(({ rho, preset, sigma, summary }) => [
    preset,
    String(rho),
    summary.keeps.toFixed(1),
    percent(summary.looked),
    percent(summary.falselyConfirmed),
    percent(summary.falselyConfirmedAtMost),
    errorOf(summary.bias, sigma),
    errorOf(summary.biasConfirmed, sigma),
    errorOf(summary.biasShrunken, sigma),
  ]),
])

const few = Math.ceil(sessions / 4)
console.log(
  `\nNull worlds of few items: ${few} sessions of 100 runs, preset balanced; noise of the items in seed deviations. Scalar: the same scores without items`,
)
const itemWorlds = [
  ...[0.5, 1, 3].map((luck) => ({
    name: `100 items, item noise ${luck}`,
    items: { count: 100, seedNoise: 1, outcomes: { luck } },
  })),
  { name: '200 fair coins, no seed noise', items: { count: 200, seedNoise: 0, outcomes: { share: 1 } } },
  { name: '118 answers, 4 % differ, no seed noise', items: { count: 118, seedNoise: 0, outcomes: { share: 0.08 } } },
]
const byItem = itemWorlds.map(({ name, items }) => {
  const played = (/** @type {boolean} */ isScalar) =>
    simulateSessions({ world: openItemWorld({ ...items, isScalar }), rule: defaultRule, runs: 100, seed }, few)
  return { name, summary: played(false), scalar: played(true) }
})
printTable([
  [
    'world',
    'evaluated',
    'confirmed',
    'at most (95 %)',
    'interval covers',
    'it says',
    'contradictions',
    'scalar: confirmed',
    'scalar: better on these items',
  ],
  ...byItem.map(({ name, summary, scalar }) => [
    name,
    percent(summary.looked),
    percent(summary.falselyConfirmed),
    percent(summary.falselyConfirmedAtMost),
    summary.coverage === null ? '-' : percent(summary.coverage.share),
    summary.coverage === null ? '-' : percent(summary.coverage.promised),
    String(summary.contradictions),
    percent(scalar.falselyConfirmed),
    percent(scalar.better),
  ]),
])
if (process.argv.includes('--items')) process.exit(0)

const worlds = /** @type {const} */ ([
  ['early', 300],
  ['late', 300],
  ['shrinking', 600],
])
const purposes = /** @type {const} */ (['first seeds', 'later seeds', 'incumbent', 'control', 'baseline'])
/** @type {string[][]} */
const spending = []
for (const [name, runs] of worlds) {
  console.log(`\nWorld "${name}": ${fewer} sessions of ${runs} runs, in units of the seed noise; rho 0 / 0.6`)
  printTable([
    [
      'rule',
      'true gain',
      'per 100 ideas',
      'overstated by',
      'keeps',
      'keeps that do not help',
      'confirmed',
      'reported - true',
    ],
    ...rules.map(({ name: rule, ...kept }) => {
      const both = [0, 0.6].map((rho) => simulateSessions({ world: openWorld(name, rho), runs, seed, ...kept }, fewer))
      const cell = (/** @type {(summary: (typeof both)[number]) => string} */ text) => both.map(text).join(' / ')
      spending.push([
        name,
        rule,
        ...purposes.map((purpose) => cell(({ spent }) => percent(spent[purpose]))),
        cell(({ hiddenRuns }) => hiddenRuns.toFixed(0)),
      ])
      return [
        rule,
        cell(({ trueGain, trueGainError }) => `${trueGain.toFixed(2)} ± ${trueGainError.toFixed(2)}`),
        cell(({ trueGain, experiments }) => ((100 * trueGain) / experiments).toFixed(2)),
        cell(({ optimism }) => optimism.toFixed(2)),
        cell(({ keeps }) => keeps.toFixed(1)),
        cell(({ idleShare }) => percent(idleShare)),
        cell(({ confirmed, looked }) => (looked === 0 ? '-' : percent(confirmed))),
        cell(({ biasConfirmed }) => (biasConfirmed === null ? '-' : biasConfirmed.mean.toFixed(2))),
      ]
    }),
  ])
}
console.log('\nWhat runs on validation were for, rho 0 / 0.6; and runs on the hidden split beside them')
printTable([['world', 'rule', ...purposes, 'hidden'], ...spending])

const told = Math.ceil(fewer / 5)
console.log(`\nOne keep, as the session tells it at its end, against the truth: ${told} sessions, preset balanced`)
printTable([
  ['world', 'rho', 'runs', 'gain as measured', 'shrunk', 'true', 'said to help nothing', 'helps nothing'],
  .../** @type {const} */ ([
    ...worlds,
    ['early', 80],
    ['shrinking', 100],
    ['gentle', 300],
    ['rare', 300],
    ['spread', 300],
    ['null', 300],
  ]).flatMap(([name, runs]) =>
    [0, 0.6].map((rho) => {
      const options = { world: openWorld(name, rho), rule: defaultRule, runs, seed, shrinks: true }
      const { shrunken: said, idleShare } = simulateSessions(options, told)
      const gains = said === null ? ['-', '-', '-'] : [said.raw, said.shrunk, said.truth].map((gain) => gain.toFixed(2))
      return [
        name,
        String(rho),
        String(runs),
        ...gains,
        said === null ? '-' : percent(said.idleShare),
        percent(idleShare),
      ]
    }),
  ),
])

const apart = /** @type {const} */ (['few', 'steep', 'heavy', 'even'])
console.log(
  `\nMixes that no constant was chosen on: ${fewer} sessions of 300 runs, rho 0.3, seeds from 10001; said of ${told} sessions`,
)
printTable([
  ['world', 'rule', 'true gain', 'overstated by', 'keeps', 'keeps that do not help', 'said', 'shrunk / true gain'],
  ...apart.flatMap((name) =>
    rules
      .filter(({ name: rule }) => ['reference', 'default, explore', 'default, balanced'].includes(rule))
      .map(({ name: rule, ...kept }) => {
        const options = { world: openWorld(name, 0.3), runs: 300, seed: 10001, ...kept }
        const { trueGain, trueGainError, optimism, keeps, idleShare } = simulateSessions(options, fewer)
        const said = kept.rule === defaultRule ? simulateSessions({ ...options, shrinks: true }, told).shrunken : null
        return [
          name,
          rule,
          `${trueGain.toFixed(2)} ± ${trueGainError.toFixed(2)}`,
          optimism.toFixed(2),
          keeps.toFixed(1),
          percent(idleShare),
          said === null ? '-' : percent(said.idleShare),
          said === null ? '-' : `${said.shrunk.toFixed(2)} / ${said.truth.toFixed(2)}`,
        ]
      }),
  ),
])

const past = nulls.filter(
  ({ sigma, summary: { falselyConfirmedAtMost, bias } }) =>
    falselyConfirmedAtMost > mostFalse || Math.abs(bias?.mean ?? 0) > mostBias * sigma,
)
const error = 2 * Math.sqrt((0.05 * 0.95) / few)
const lucky = byItem.filter(
  ({ summary, scalar }) =>
    Math.max(summary.falselyConfirmed, scalar.falselyConfirmed) > 0.05 + error ||
    summary.contradictions > 0 ||
    !covers(summary.coverage),
)
const within = past.length === 0 && lucky.length === 0
console.log(
  within
    ? 'Within the limits'
    : `Past a limit: ${[...past.map(({ preset, rho }) => `${preset} ${rho}`), ...lucky.map(({ name }) => name)].join(', ')}`,
)
process.exitCode = within ? 0 : 1

/** @param {{ share: number, promised: number, n: number } | null} coverage */
function covers(coverage) {
  return coverage === null || coverage.share > coverage.promised - 0.03 - 2 * Math.sqrt((0.075 * 0.925) / coverage.n)
}

/**
 * @param {{ mean: number, standardError: number } | null} bias
 * @param {number} sigma
 */
function errorOf(bias, sigma) {
  return bias === null ? '-' : `${(bias.mean / sigma).toFixed(3)} ± ${(bias.standardError / sigma).toFixed(3)}`
}
