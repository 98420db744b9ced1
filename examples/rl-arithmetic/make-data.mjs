// Makes data/: `node make-data.mjs`. Sums of three numbers. A sum of the benchmarks is in no training row, in no order of its numbers.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files by their paths. */
export function makeData() {
  const random = randomFrom(29)
  const seen = new Set()
  /** @param {number} count */
  const sums = (count) => {
    const found = []
    while (found.length < count) {
      const numbers = Array.from({ length: 3 }, () => 1 + Math.floor(random() * 15))
      const key = [...numbers].sort((a, b) => a - b).join(' ')
      if (seen.has(key)) continue
      seen.add(key)
      found.push(numbers)
    }
    return found
  }
  // Half of the answers that the start is tuned on show their steps, half do not: which way is better is for rewards to say.
  const start = sums(80).map((numbers, i) => ({
    query: question(numbers),
    answer: i % 2 === 0 ? inSteps(numbers) : String(total(numbers)),
  }))
  return {
    'data/start.jsonl': lines(start),
    'data/train.jsonl': lines(tasks('train', sums(320))),
    'data/val/tasks.jsonl': lines(tasks('val', sums(48))),
    'data/val/metadata.yaml':
      'name: sums-val\ndescription: Sums of three numbers that no training row has.\nversion: 1\n',
    'data/test/tasks.jsonl': lines(tasks('test', sums(96))),
    'data/test/metadata.yaml':
      'name: sums-test\ndescription: Sums of three numbers that neither training nor validation has.\nversion: 1\n',
  }
}

/** @param {readonly number[]} numbers */
function question(numbers) {
  return `What is ${numbers.join(' + ')}?`
}

/** @param {readonly number[]} numbers */
function total(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** @param {readonly number[]} numbers */
function inSteps([a = 0, b = 0, c = 0]) {
  return `${a} + ${b} = ${a + b}, and ${a + b} + ${c} = ${a + b + c}.`
}

/** @param {string} name @param {readonly (readonly number[])[]} sums */
function tasks(name, sums) {
  return sums.map((numbers, i) => ({
    task_id: `${name}-${i + 1}`,
    instruction: question(numbers),
    verifier: { kind: 'in_process', fn_name: 'numeric', expected: total(numbers) },
  }))
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
