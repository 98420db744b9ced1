// Makes data/: `node make-data.mjs`. Orders with their confirmations for the teacher, orders alone for the student; the things of the
// benchmarks are in no training row, and those of the test are not those of validation.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const colours = ['red', 'blue', 'green', 'white', 'black', 'brown', 'gray', 'yellow']
const trained = ['cups', 'chairs', 'lamps', 'books', 'boxes', 'bags', 'plates', 'hats', 'shoes', 'coats']
const heldOut = { val: ['tables', 'clocks', 'bottles', 'doors'], test: ['spoons', 'mirrors', 'carpets', 'candles'] }

/** The files by their paths. */
export function makeData() {
  const random = randomFrom(23)
  /** @param {readonly string[]} items */
  const pick = (items) => items[Math.floor(random() * items.length)]
  /** @param {readonly string[]} things @param {number} count */
  const orders = (things, count) =>
    Array.from({ length: count }, () => `${2 + Math.floor(random() * 8)} ${pick(colours)} ${pick(things)}`)
  /** @param {string} order */
  const confirmed = (order) => `Ordered: ${order}.`
  const answered = orders(trained, 200).map((order) => ({ query: order, answer: confirmed(order) }))
  const asked = [...new Set(orders(trained, 260))].map((order) => ({ query: order }))
  /** @param {readonly string[]} things */
  const tasks = (things) =>
    [...new Set(orders(things, 60))].slice(0, 32).map((order, i) => ({
      task_id: `order-${i + 1}`,
      instruction: order,
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: confirmed(order) },
    }))
  return {
    'data/answered.jsonl': lines(answered),
    'data/asked.jsonl': lines(asked),
    ...Object.fromEntries(
      Object.entries(heldOut).flatMap(([part, things]) => [
        [`data/${part}/tasks.jsonl`, lines(tasks(things))],
        [
          `data/${part}/metadata.yaml`,
          `name: orders-${part}\ndescription: Orders of things that no training row names.\nversion: 1\n`,
        ],
      ]),
    ),
  }
}

/** @param {readonly object[]} rows */
function lines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/**
 * mulberry32: the same numbers everywhere.
 * @param {number} seed
 */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(makeData())) {
    const file = join(dirname(fileURLToPath(import.meta.url)), path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
