// Rows of a JSON Lines file as a stream: memory must not grow with the file, and reading must keep up with what Node offers itself
// (readline and JSON.parse). One pass over the whole file; memory is looked at when it has seen a hundredth, a tenth and all of it.
//
//   node bench/data.mjs [ROWS] [READERS]      default 1000000, all of them; docs/benchmarks/data.md has 10000000

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { printTable } from './best-of.mjs'

const mostGrowth = 1.3
const leastSpeed = 0.5

const [first = '1000000', second = '', total = '0'] = process.argv.slice(2)
if (Object.hasOwn(contenders(), first)) await measure(first, second, Number(total))
else await main(Number(first), second === '' ? Object.keys(contenders()) : second.split(','))

/**
 * @param {number} rows
 * @param {string[]} readers
 */
async function main(rows, readers) {
  const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
  try {
    const path = join(folder, 'rows.jsonl')
    await generate(path, rows)
    const mb = statSync(path).size / 2 ** 20
    const results = readers.map((name) => ({ name, ...runChild(name, path, rows) }))
    console.log(`\n${rows} rows, ${mb.toFixed(0)} MB of JSON Lines, Node ${process.versions.node}`)
    printTable([
      ['reader', 'rows/s', 'MB/s', ...marksOf(rows).map((mark) => `MB at ${mark}`), 'growth'],
      ...results.map(({ name, seconds, peaks }) => [
        name,
        (rows / seconds).toFixed(0),
        (mb / seconds).toFixed(0),
        ...peaks.map((peak) => peak.toFixed(0)),
        growth(peaks).toFixed(2),
      ]),
    ])
    const secondsOf = (/** @type {string} */ name) => results.find((each) => each.name === name)?.seconds ?? Number.NaN
    const speed = secondsOf('readline') / secondsOf('rows')
    if (!Number.isNaN(speed))
      console.log(
        `reading rows: ${speed.toFixed(2)} times the speed of readline and JSON.parse (at least ${leastSpeed})`,
      )
    const flat = results.filter(({ name }) => name !== 'readline').every(({ peaks }) => growth(peaks) <= mostGrowth)
    process.exitCode = flat && !(speed < leastSpeed) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is measured, each in a process of its own. */
function contenders() {
  return {
    /** @param {string} path */
    async *readline(path) {
      for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line)
    },
    /** @param {string} path */
    async *rows(path) {
      const { readJsonl } = await import('../dist/data/index.js')
      for await (const { row } of readJsonl(path, { signal: new AbortController().signal })) yield row
    },
    /** Transforms, typed rows, hash. @param {string} path */
    async *pipeline(path) {
      const { openRows } = await import('../dist/data/index.js')
      const opened = await openRows({ ...(await request(path)) })
      yield* opened.rows()
    },
    /** The same, kept in the cache and read from there. @param {string} path */
    async *cached(path) {
      const { openRows } = await import('../dist/data/index.js')
      const cache = { dir: `${path}.cache`, seed: 1, codeHash: () => '' }
      const opened = await openRows({ ...(await request(path)), cache })
      yield* opened.rows()
    },
  }
}

/** @param {string} path */
async function request(path) {
  const { dataPlugins } = await import('../dist/data/index.js')
  const { DataConfig } = await import('../dist/contracts/index.js')
  const { createRegistry, keyedRandom } = await import('../dist/kernel/index.js')
  const registry = createRegistry()
  for (const plugin of dataPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const transforms = [
    { kind: 'filter', params: { field: 'query', nonempty: true } },
    { kind: 'jsonl_to_chat', params: { user_template: 'Query: {query}', assistant_template: '{tool}' } },
  ]
  return {
    data: DataConfig.parse({ path, transforms }),
    format: /** @type {const} */ ('chat_messages'),
    services: {
      registry,
      signal: new AbortController().signal,
      random: (/** @type {(string | number)[]} */ ...parts) => keyedRandom(1, ...parts),
      log: () => {},
      secret: () => '',
    },
  }
}

/**
 * @param {string} name
 * @param {string} path
 * @param {number} rows
 */
async function measure(name, path, rows) {
  const marks = marksOf(rows)
  /** @type {number[]} */
  const peaks = []
  let peak = 0
  let seen = 0
  if (name !== 'readline') await request(path) // loading code is not reading rows
  const began = performance.now()
  for await (const _ of Reflect.get(contenders(), name)(path)) {
    seen++
    if (seen % 1000 === 0 || seen === rows) peak = Math.max(peak, process.memoryUsage.rss())
    if (marks.includes(seen)) peaks.push(peak / 2 ** 20)
  }
  if (seen !== rows) throw new Error(`${name} saw ${seen} rows of ${rows}`)
  console.log(JSON.stringify({ seconds: (performance.now() - began) / 1000, peaks }))
}

/** @param {number} rows */
function marksOf(rows) {
  return [rows / 100, rows / 10, rows].map(Math.round)
}

/** Memory at the end against memory at a tenth of the rows: by then everything is loaded and compiled. @param {number[]} peaks */
function growth([, tenth = Number.NaN, all = Number.NaN]) {
  return all / tenth
}

/**
 * @param {string} name
 * @param {string} path
 * @param {number} rows
 * @returns {{ seconds: number, peaks: number[] }}
 */
function runChild(name, path, rows) {
  const args = [fileURLToPath(import.meta.url), name, path, String(rows)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${name} exited with ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/**
 * @param {string} path
 * @param {number} rows
 */
async function generate(path, rows) {
  const out = createWriteStream(path)
  let text = ''
  for (let i = 0; i < rows; i++) {
    text += `{"query":"turn ${i % 97} of the lights in room ${i} to ${i % 101} percent","tool":"lights_${i % 50}"}\n`
    if (text.length < 2 ** 20 && i < rows - 1) continue
    if (!out.write(text)) await once(out, 'drain')
    text = ''
  }
  out.end()
  await finished(out)
}
