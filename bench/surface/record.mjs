// Records real trainings of evsys/nano over the space of space.mjs, by `evsys run`: one experiment for each piece, all in one project. It adds to
// the table until there are as many as it was asked for, so that it can be ended and started again.
//   npm run build && node bench/surface/record.mjs [WHOLE] [PIECE]
// First points that fill the space, then changes of one or two knobs around the best of them, then second seeds of a part; a poor and a good
// recipe on twelve seeds each, with the answers to single tasks of val and test: what differs between those is noise alone.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../dist/store/index.js'
import { draw, writeData } from './make-data.mjs'
import { axes, runAt, steps } from './space.mjs'

// In this order, so that a table that was ended early has something of each.
const stages = /** @type {const} */ ([
  ['fill', 80],
  ['near', 40],
  ['again', 24],
  ['null', 24],
  ['fill', 120],
  ['near', 80],
  ['fill', 170],
  ['near', 130],
  ['again', 60],
])
const file = fileURLToPath(new URL('nano-router.tsv', import.meta.url))
const evsys = fileURLToPath(new URL('../../bin/evsys.js', import.meta.url))
const whole = Number(process.argv[2] ?? 1000)
const piece = Number(process.argv[3] ?? 40)
const fidelities = Array.from({ length: steps.all / steps.every }, (_, i) => (i + 1) * steps.every)

/** @typedef {Record<string, string | number>} Knobs */
/** @typedef {{ kind: string, knobs: Knobs, seed: number, scores?: number[], seconds?: number, val?: string | undefined, test?: string | undefined }} Row */

const head = [
  'kind',
  ...axes.map(({ name }) => name),
  'seed',
  ...fidelities.map((step) => `pass@${step}`),
  'seconds',
  'val',
  'test',
]

/** @returns {Row[]} */
function readTable() {
  if (!existsSync(file)) return []
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const cells = line.split('\t')
    const knobs = Object.fromEntries(
      axes.map(({ name, values }, i) => [name, values.find((value) => String(value) === cells[i + 1]) ?? '']),
    )
    const at = axes.length + 1
    const scores = cells.slice(at + 1, at + 1 + fidelities.length).map(Number)
    const [seconds, val, test] = cells.slice(at + 1 + fidelities.length)
    return { kind: cells[0] ?? '', knobs, seed: Number(cells[at]), scores, seconds: Number(seconds), val, test }
  })
}

/** @param {Row[]} rows */
function writeTable(rows) {
  const lines = rows.map(({ kind, knobs, seed, scores = [], seconds = 0, val = '', test = '' }) =>
    [
      kind,
      ...axes.map(({ name }) => knobs[name]),
      seed,
      ...scores.map((each) => each.toFixed(3)),
      seconds.toFixed(2),
      val,
      test,
    ].join('\t'),
  )
  writeFileSync(file, `${[head.join('\t'), ...lines].join('\n')}\n`)
}

/** @param {Knobs} knobs */
const keyOf = (knobs) => axes.map(({ name }) => knobs[name]).join('\t')
/** @param {Row} row */
const last = ({ scores = [] }) => scores.at(-1) ?? 0

/** The next rows to record. @param {Row[]} known @param {number} count @returns {Row[]} */
function nextRows(known, count) {
  for (const [kind, upTo] of stages) {
    const have = known.filter((row) => row.kind === kind).length
    if (have < upTo) return makers[kind](known, have, Math.min(count, upTo - have))
  }
  return []
}

/** @type {Record<(typeof stages)[number][0], (known: Row[], have: number, count: number) => Row[]>} */
const makers = {
  fill: (known, have, count) => freshRows('fill', known, have, count, latinPoint),
  near(known, have, count) {
    const best = rankedRows(known).slice(0, 16)
    return freshRows('near', known, have, count, (i) => changed(/** @type {Row} */ (best[i % best.length]).knobs, i))
  },
  // Over all levels, and the best more densely.
  again(known, _, count) {
    const again = new Set(known.filter(({ kind }) => kind === 'again').map(({ knobs }) => keyOf(knobs)))
    const ranked = rankedRows(known)
    const wanted = [...ranked.slice(0, 30), ...ranked.slice(30).filter((_, i) => i % 5 === 0)]
    const open = wanted.filter(({ knobs }) => !again.has(keyOf(knobs)))
    const spread = open.filter(
      (_, i) => Math.floor(((i + 1) * count) / open.length) > Math.floor((i * count) / open.length),
    )
    return spread.map(({ knobs }) => ({ kind: 'again', knobs, seed: 2 }))
  },
  null(known, have, count) {
    const ranked = rankedRows(known)
    const pair = [ranked[Math.floor(ranked.length * 0.5)], ranked[5]]
    return Array.from({ length: count }, (_, i) => ({
      kind: 'null',
      knobs: pair[i < count / 2 ? 0 : 1]?.knobs ?? {},
      seed: 100 + have + (i % (count / 2)),
    }))
  },
}

/** @param {string} kind @param {Row[]} known @param {number} have @param {number} count @param {(i: number) => Knobs} pointAt */
function freshRows(kind, known, have, count, pointAt) {
  const seen = new Set(known.map(({ knobs }) => keyOf(knobs)))
  /** @type {Row[]} */
  const rows = []
  for (let i = have; rows.length < count; i++) {
    const knobs = pointAt(i)
    if (seen.has(keyOf(knobs))) continue
    seen.add(keyOf(knobs))
    rows.push({ kind, knobs, seed: 1 })
  }
  return rows
}

/** Points on their first seed, best first. @param {Row[]} known */
function rankedRows(known) {
  return known.filter(({ kind }) => kind === 'fill' || kind === 'near').sort((a, b) => last(b) - last(a))
}

/** Of each knob every value comes equally often. @param {number} i @returns {Knobs} */
function latinPoint(i) {
  return Object.fromEntries(
    axes.map(({ name, values }) => {
      const round = Math.floor(i / values.length)
      const order = values.map((value, k) => ({ value, at: draw('latin', name, round, k) })).sort((a, b) => a.at - b.at)
      return [name, /** @type {{ value: string | number }} */ (order[i % values.length]).value]
    }),
  )
}

/** Another value of one knob or two, mostly the next. @param {Knobs} knobs @param {number} i @returns {Knobs} */
function changed(knobs, i) {
  const order = axes.map((axis) => ({ axis, at: draw('change', i, axis.name) })).sort((a, b) => a.at - b.at)
  const result = { ...knobs }
  for (const { axis } of order.slice(0, draw('change', i) < 0.5 ? 1 : 2)) {
    const { name, values } = axis
    const at = values.indexOf(/** @type {never} */ (knobs[name]))
    const isOrdered = typeof values[0] === 'number'
    const step = draw('step', i, name) < 0.5 ? 1 : -1
    const to = isOrdered
      ? at + step < 0 || at + step >= values.length
        ? at - step
        : at + step
      : (at + 1 + Math.floor(draw('step', i, name) * (values.length - 1))) % values.length
    result[name] = /** @type {string | number} */ (values[to])
  }
  return result
}

/** @param {string} name @param {object} more */
function benchmark(name, more) {
  const task = {
    instruction_template: 'Ticket: {text}',
    verifier: 'exact_match',
    expected: '{desk}',
    task_id_template: '{ticket}',
  }
  const transforms = [{ kind: 'to_harbor_task', params: task }]
  return {
    name,
    split: name,
    leaks: 'allow_near',
    max_tokens: 6,
    metrics: ['pass@1'],
    data: { path: `data/${name}.jsonl`, transforms },
    ...more,
  }
}

/** Which tasks were solved, in the order of their names, four to a digit. @param {Record<string, (number | null)[]> | undefined} rewards */
function answersOf(rewards = {}) {
  const right = Object.keys(rewards)
    .sort()
    .map((task) => Number(rewards[task]?.[0] === 1))
  return Array.from({ length: Math.ceil(right.length / 4) }, (_, i) =>
    right
      .slice(4 * i, 4 * i + 4)
      .reduce((sum, each) => 2 * sum + each, 0)
      .toString(16),
  ).join('')
}

/** @param {Row[]} rows @param {string} folder @param {number} number */
async function record(rows, folder, number) {
  const document = {
    version: 1,
    name: `piece-${number}`,
    metadata: {
      hypothesis: 'What a recipe does to a small model is a surface that a search can be measured on.',
      objective: { metric: 'val.pass@1' },
      benchmark: [
        benchmark('val', { run_every: steps.every }),
        ...(rows[0]?.kind === 'null' ? [benchmark('test', {})] : []),
      ],
    },
    runs: rows.map(({ knobs, seed }, i) => ({ ...runAt(knobs, `r${i}`), seed })),
  }
  const path = join(folder, `piece-${number}.json`)
  writeFileSync(path, JSON.stringify(document))
  const began = Date.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, [evsys, 'run', path, '--json', '--fresh'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(`evsys run exited with ${status}: ${stderr.slice(-2000)} ${stdout.slice(-2000)}`)
  const seconds = (Date.now() - began) / 1000 / rows.length
  const store = await openStore(join(folder, '.evsys', 'evsys.db'))
  try {
    for (const run of await store.runs(JSON.parse(stdout).experiment_id)) {
      const row = rows[Number(run.name.replace(/^r(\d+).*$/, '$1'))]
      if (row === undefined) throw new Error(`a run is called ${run.name}`)
      const evals = await store.evals(run.id)
      const val = evals.filter(({ benchmark }) => benchmark === 'val')
      const scores = new Map(val.map(({ step = steps.all - 1, metrics }) => [step + 1, metrics['pass@1']]))
      row.scores = fidelities.map((step) => scores.get(step) ?? Number.NaN)
      row.seconds = seconds
      if (row.kind !== 'null') continue
      row.val = answersOf(val.find(({ step = steps.all - 1 }) => step === steps.all - 1)?.rewards)
      row.test = answersOf(evals.find(({ benchmark }) => benchmark === 'test')?.rewards)
    }
  } finally {
    await store[Symbol.asyncDispose]()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'evsys-surface-'))
try {
  mkdirSync(join(folder, '.evsys'))
  writeData(join(folder, 'data'))
  for (let number = 1; ; number++) {
    const known = readTable()
    const rows = nextRows(known, Math.min(piece, whole - known.length))
    if (rows.length === 0 || known.length >= whole) break
    await record(rows, folder, number)
    writeTable([...known, ...rows])
    console.log(
      `${known.length + rows.length} of ${whole}: ${rows.map(last).join(' ')}; ${rows[0]?.seconds?.toFixed(2)} s each`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
