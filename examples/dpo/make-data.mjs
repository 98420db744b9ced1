// Makes data/: `node make-data.mjs`. Orders and two ways to confirm them; the things of the benchmark are in no training row.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const colours = ['red', 'blue', 'green', 'white', 'black', 'brown', 'gray', 'yellow']
const trained = ['cups', 'chairs', 'lamps', 'books', 'boxes', 'bags', 'plates', 'hats', 'shoes', 'coats']
const heldOut = ['tables', 'clocks', 'bottles', 'doors']

/** The files by their paths. */
export function makeData() {
  const random = randomFrom(11)
  /** @param {readonly string[]} items */
  const pick = (items) => items[Math.floor(random() * items.length)]
  /** @param {readonly string[]} things @param {number} count */
  const orders = (things, count) =>
    Array.from({ length: count }, () => `${2 + Math.floor(random() * 8)} ${pick(colours)} ${pick(things)}`)
  /** @param {string} order */
  const wanted = (order) => `Ordered: ${order}.`
  /** @param {string} order */
  const unwanted = (order) => `${order}? Fine.`
  // Both ways equally often: what the first stage learns.
  const sft = orders(trained, 160).map((order, i) => ({
    query: order,
    answer: i % 2 === 0 ? wanted(order) : unwanted(order),
  }))
  const pairs = orders(trained, 120).map((order) => ({
    query: order,
    chosen: wanted(order),
    rejected: unwanted(order),
  }))
  const tasks = [...new Set(orders(heldOut, 30))].slice(0, 24).map((order, i) => ({
    task_id: `order-${i + 1}`,
    instruction: order,
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: wanted(order) },
  }))
  return {
    'data/sft.jsonl': lines(sft),
    'data/pairs.jsonl': lines(pairs),
    'data/val/tasks.jsonl': lines(tasks),
    'data/val/metadata.yaml': 'name: orders\ndescription: Orders of things that no training row names.\nversion: 1\n',
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
