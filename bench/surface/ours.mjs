// Whole sessions of evsys on a table of finished trainings, as peers.py plays those of others: what a session that ends after so many
// trainings recommends, by its true worth. Every training counts: the baseline on its seeds, races, controls and those before the end.
//   npm run build && node bench/surface/ours.mjs FOLDER TABLE [SESSIONS] [BUDGET] [FROM]
// One line of JSON for each session. `node bench/surface/ours.mjs FOLDER null [SESSIONS] [EXPERIMENTS]` plays sessions in which no knob does
// anything: trainings are those that were recorded on twelve seeds of one recipe, with their answers to val and test; whatever is confirmed is wrong.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { playSessions } from '../../build/arena/sessions/bench-sessions.js'
import { tableSessions } from '../../build/arena/sessions/session-world.js'
import { readSearchTables } from '../../build/arena/tables/read-search-table.js'
import { createRegistry, keyedRandom } from '../../build/kernel/index.js'
import { researchPlugins } from '../../build/research/plugins.js'

const [folder = '.tmp/surface', name = 'nano-router', sessions = '20', budget = '120', from = '0'] =
  process.argv.slice(2)
const registry = createRegistry()
for (const plugin of researchPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
const { signal } = new AbortController()
const rules = { name: 'evsys', settings: { rules: 2 } }
const common = { repeats: Number(sessions), first: Number(from), seed: 1, registry, signal }

/** A training of the surface: its score, and a residual that was recorded near its level. @param {string} path @param {string} wanted */
async function surfaceWorld(path, wanted) {
  const tables = await readSearchTables(path)
  const table = tables.find((each) => each.name === wanted)
  if (table === undefined)
    throw new Error(`${path} holds ${tables.map((each) => each.name).join(', ')}, and no ${wanted}`)
  const world = tableSessions(table)
  if (table.seeds > 1) return world
  /** @type {{ level: number, residuals: number[] }[]} */
  const scatter = JSON.parse(readFileSync(join(path, 'scatter.json'), 'utf8'))
  return {
    ...world,
    seeds: [1, 2, 3],
    /** @type {typeof world.run} */
    run(knobs, seed, split, session) {
      const level = world.merit(knobs)
      const near = scatter.toSorted((a, b) => Math.abs(a.level - level) - Math.abs(b.level - level)).slice(0, 25)
      const random = keyedRandom(session, 'training', split, seed, JSON.stringify(knobs))
      const residual = random.pick(near).residuals.at(-1) ?? 0
      const value = Math.min(1, Math.max(0, level + (random.float() < 0.5 ? residual : -residual)))
      return { status: 'scored', value: Math.round(100 * value) / 100, secondary: {}, wallS: 0, level: 'in-process' }
    },
  }
}

/** Trainings of one recipe, drawn from those that were recorded on its twelve seeds. @param {string} path @param {number} which */
async function nullWorld(path, which) {
  const world = await surfaceWorld(path, 'nano-router')
  const file = fileURLToPath(new URL('nano-router.tsv', import.meta.url))
  const rows = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
  const recorded = rows.filter(([kind]) => kind === 'null')
  const recipeOf = (/** @type {string[]} */ cells) => cells.slice(1, 1 + Object.keys(world.space).length).join(' ')
  const recipe = [...new Set(recorded.map(recipeOf))][which]
  const own = recorded
    .filter((cells) => recipeOf(cells) === recipe)
    .map((cells) => ({ val: bits(cells.at(-2)), test: bits(cells.at(-1)) }))
  return {
    ...world,
    name: which === 0 ? 'null, a poor recipe' : 'null, a good recipe',
    hidden: true,
    merit: () => 0,
    sorted: new Float64Array([0]),
    /** @type {typeof world.run} */
    run(knobs, seed, split, session) {
      const items = keyedRandom(session, 'training', seed, JSON.stringify(knobs)).pick(own)[split]
      const value = items.reduce((sum, each) => sum + each, 0) / items.length
      return { status: 'scored', value, items, secondary: {}, wallS: 0, level: 'in-process' }
    },
  }
}

/** @param {string} [hex] */
function bits(hex = '') {
  return [...hex].flatMap((digit) => [8, 4, 2, 1].map((bit) => Number((Number.parseInt(digit, 16) & bit) > 0)))
}

if (name === 'null') {
  for (const which of [0, 1]) {
    const world = await nullWorld(folder, which)
    const ends = await playSessions(world, rules, { ...common, experiments: [Number(budget)] })
    for (const [i, [end]] of ends.entries())
      console.log(JSON.stringify({ table: world.name, session: i + common.first, ...end }))
  }
} else {
  const world = await surfaceWorld(folder, name)
  // A session is ended at each of these numbers of experiments; how many trainings that takes shows when it is played.
  const experiments = [4, 8, 12, 16, 20, 25, 30, 36, 42, 50, 58, 66, 76, 88].filter(
    (each) => each <= 0.8 * Number(budget),
  )
  for (let session = common.first; session < common.first + common.repeats; session++) {
    const [ends = []] = await playSessions(world, rules, { ...common, repeats: 1, first: session, experiments })
    const regret = Array.from(
      { length: Number(budget) },
      (_, i) => ends.findLast(({ runs }) => runs <= i + 1)?.regret ?? null,
    )
    const last = ends.findLast(({ runs }) => runs <= Number(budget))
    console.log(JSON.stringify({ table: world.name, contender: 'evsys', session, regret, rank: last?.rank, ends }))
  }
}
