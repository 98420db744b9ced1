// A surface from the recorded trainings: the score of every point of the space, and how far trainings scatter around it by level.
//   node bench/surface/make-surface.mjs FOLDER
// Between recorded points a forest of extremely randomised trees speaks (Geurts, Ernst and Wehenkel 2006), fitted to the table alone: it has
// neither the kernels of our model or of a Gaussian process, nor the densities of TPE, so that it favours none of them. It writes one search
// table for each fidelity, and `scatter.json`: residuals of pairs of seeds, with their level, all fidelities of a pair together.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { axes, steps } from './space.mjs'

const trees = 100
const leaf = 2
const file = fileURLToPath(new URL('nano-router.tsv', import.meta.url))
const fidelities = Array.from({ length: steps.all / steps.every }, (_, i) => (i + 1) * steps.every)

/** @typedef {{ kind: string, key: string, places: number[], scores: number[], seed: number }} Recorded */

/** @returns {Recorded[]} */
export function readRecorded() {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const cells = line.split('\t')
    const places = axes.map(({ values }, i) => values.findIndex((value) => String(value) === cells[i + 1]))
    const at = axes.length + 1
    const scores = cells.slice(at + 1, at + 1 + fidelities.length).map(Number)
    return { kind: cells[0] ?? '', key: places.join(' '), places, scores, seed: Number(cells[at]) }
  })
}

/** A stream of draws from 0 to 1. @param {string} name */
function stream(name) {
  let state = createHash('sha256').update(name).digest().readUInt32BE() || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

/**
 * @typedef {{ value: number } | { axis: number, left: Set<number>, yes: Tree, no: Tree }} Tree
 * @typedef {{ places: number[], value: number }} Sample
 */

/** @param {Sample[]} samples @param {() => number} random @returns {Tree} */
function grow(samples, random) {
  const value = samples.reduce((sum, each) => sum + each.value, 0) / samples.length
  if (samples.length < 2 * leaf || samples.every((each) => each.value === samples[0]?.value)) return { value }
  /** @type {{ axis: number, left: Set<number>, gain: number } | undefined} */
  let best
  for (const [axis, { values }] of axes.entries()) {
    const seen = [...new Set(samples.map(({ places }) => places[axis] ?? 0))].sort((a, b) => a - b)
    if (seen.length < 2) continue
    // Numbers are cut at a place, words parted by a draw.
    const isOrdered = typeof values[0] === 'number'
    const cut = (seen[0] ?? 0) + random() * ((seen.at(-1) ?? 0) - (seen[0] ?? 0))
    const left = new Set([...values.keys()].filter((place) => (isOrdered ? place <= cut : random() < 0.5)))
    const yes = samples.filter(({ places }) => left.has(places[axis] ?? 0))
    if (yes.length < leaf || samples.length - yes.length < leaf) continue
    const sum = yes.reduce((total, each) => total + each.value - value, 0)
    const gain = sum ** 2 / yes.length + sum ** 2 / (samples.length - yes.length)
    if (best === undefined || gain > best.gain) best = { axis, left, gain }
  }
  if (best === undefined) return { value }
  const { axis, left } = best
  const isYes = (/** @type {Sample} */ { places }) => left.has(places[axis] ?? 0)
  return {
    axis,
    left,
    yes: grow(samples.filter(isYes), random),
    no: grow(
      samples.filter((each) => !isYes(each)),
      random,
    ),
  }
}

/** @param {Tree} tree @param {ArrayLike<number>} places */
function ask(tree, places) {
  let at = tree
  while (!('value' in at)) at = at.left.has(places[at.axis] ?? 0) ? at.yes : at.no
  return at.value
}

/** @param {Sample[]} samples @param {string} name @param {number} count */
function forest(samples, name, count) {
  return Array.from({ length: count }, (_, i) => grow(samples, stream(`${name} ${i}`)))
}

/** Mean of a point over its seeds. @param {Recorded[]} recorded @param {number} fidelity @returns {Sample[]} */
function samplesOf(recorded, fidelity) {
  /** @type {Map<string, { places: number[], values: number[] }>} */
  const points = new Map()
  for (const { key, places, scores } of recorded) {
    const point = points.get(key) ?? { places, values: [] }
    point.values.push(scores[fidelity] ?? 0)
    points.set(key, point)
  }
  return [...points.values()].map(({ places, values }) => ({
    places,
    value: values.reduce((sum, each) => sum + each, 0) / values.length,
  }))
}

/** Scores of all points, row-major. @param {Tree[]} grown */
function everywhere(grown) {
  const sizes = axes.map(({ values }) => values.length)
  const count = sizes.reduce((product, size) => product * size, 1)
  const result = new Float32Array(count)
  const places = new Uint8Array(axes.length)
  for (let config = 0; config < count; config++) {
    for (let axis = axes.length - 1, rest = config; axis >= 0; axis--) {
      places[axis] = rest % (sizes[axis] ?? 1)
      rest = Math.floor(rest / (sizes[axis] ?? 1))
    }
    result[config] = grown.reduce((sum, tree) => sum + ask(tree, places), 0) / grown.length
  }
  return result
}

/** Share of the variance of points left out that a forest of the others explains, in ten parts. @param {Sample[]} samples */
function explained(samples) {
  const order = [...samples.keys()].sort((a, b) => ((a * 7919) % samples.length) - ((b * 7919) % samples.length))
  let errors = 0
  for (let part = 0; part < 10; part++) {
    const out = order.filter((_, i) => i % 10 === part)
    const grown = forest(
      samples.filter((_, i) => !out.includes(i)),
      `part ${part}`,
      100,
    )
    for (const i of out) {
      const { places, value } = /** @type {Sample} */ (samples[i])
      errors += (value - grown.reduce((sum, tree) => sum + ask(tree, places), 0) / grown.length) ** 2
    }
  }
  const mean = samples.reduce((sum, { value }) => sum + value, 0) / samples.length
  return 1 - errors / samples.reduce((sum, { value }) => sum + (value - mean) ** 2, 0)
}

/** What a second seed changed, as residuals of one training. @param {Recorded[]} recorded */
function scatterOf(recorded) {
  const firsts = new Map(
    recorded.filter(({ kind }) => kind === 'fill' || kind === 'near').map((each) => [each.key, each]),
  )
  return recorded
    .filter(({ kind }) => kind === 'again')
    .flatMap(({ key, scores }) => {
      const first = firsts.get(key)
      if (first === undefined) return []
      const level = ((first.scores.at(-1) ?? 0) + (scores.at(-1) ?? 0)) / 2
      // A difference of two has twice the variance of one.
      return [{ level, residuals: scores.map((score, i) => (score - (first.scores[i] ?? 0)) / Math.SQRT2) }]
    })
    .sort((a, b) => a.level - b.level)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? '.tmp/surface'
  mkdirSync(folder, { recursive: true })
  const recorded = readRecorded().filter(({ kind }) => kind !== 'null')
  for (const [fidelity, step] of fidelities.entries()) {
    const samples = samplesOf(recorded, fidelity)
    const values = everywhere(forest(samples, `forest ${step}`, trees))
    const name = step === steps.all ? 'nano-router' : `nano-router-${step}`
    const header = { name, direction: 'maximize', seeds: 1, axes }
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(header))
    writeFileSync(join(folder, `${name}.f32.gz`), gzipSync(new Uint8Array(values.buffer)))
    let [best, least] = [0, 1]
    for (const value of values) [best, least] = [Math.max(best, value), Math.min(least, value)]
    console.log(
      `${name}: ${samples.length} points, ${values.length} configurations from ${least.toFixed(3)} to ${best.toFixed(3)}, explained ${explained(samples).toFixed(2)}`,
    )
  }
  const scatter = scatterOf(recorded)
  writeFileSync(join(folder, 'scatter.json'), JSON.stringify(scatter))
  const sd = (/** @type {typeof scatter} */ part) =>
    Math.sqrt(part.reduce((sum, { residuals }) => sum + (residuals.at(-1) ?? 0) ** 2, 0) / part.length)
  const thirds = [0, 1, 2].map((third) =>
    scatter.slice((third * scatter.length) / 3, ((third + 1) * scatter.length) / 3),
  )
  console.log(
    `scatter of a seed by thirds of the level: ${thirds.map((part) => `${sd(part).toFixed(3)} around ${part[part.length >> 1]?.level.toFixed(2)}`).join(', ')}`,
  )
}
