// Makes data/: `node make-data.mjs`. Small stories that ask for a number. People and things of the benchmarks are in no training row.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const trained = {
  people: ['Ann', 'Ben', 'Clara', 'David', 'Emma', 'Frank', 'Grace', 'Henry'],
  things: ['books', 'coins', 'cards', 'stamps', 'apples', 'shells', 'pens', 'cups', 'stones', 'letters'],
}
const heldOut = {
  val: { people: ['Ida', 'Jack', 'Kate'], things: ['keys', 'bottles', 'flowers', 'chairs'] },
  test: { people: ['Laura', 'Mark', 'Nora', 'Oscar'], things: ['boxes', 'tickets', 'pictures', 'plates', 'candles'] },
}

/** The files by their paths. */
export function makeData() {
  const random = randomFrom(23)
  /** @param {number} low @param {number} high */
  const int = (low, high) => low + Math.floor(random() * (high - low + 1))
  /** @param {readonly string[]} items */
  const pick = (items) => items[int(0, items.length - 1)]
  /** @param {{ people: string[], things: string[] }} words */
  const story = ({ people, things }) => {
    const [who, what] = [pick(people), pick(things)]
    const kind = int(0, 2)
    if (kind === 0) {
      const [a, b] = [int(100, 899), int(11, 99)]
      return {
        question: `${who} has ${a} ${what} and gets ${b} more. How many now?`,
        sum: `${a} + ${b}`,
        answer: a + b,
      }
    }
    if (kind === 1) {
      const [a, b] = [int(200, 999), int(11, 99)]
      return {
        question: `${who} has ${a} ${what} and loses ${b}. How many are left?`,
        sum: `${a} - ${b}`,
        answer: a - b,
      }
    }
    const [a, b] = [int(11, 99), int(3, 9)]
    return { question: `${who} has ${a} bags of ${b} ${what}. How many in all?`, sum: `${a} * ${b}`, answer: a * b }
  }
  /** @param {{ people: string[], things: string[] }} words @param {number} count */
  const stories = (words, count) => Array.from({ length: count }, () => story(words))
  // One in six of the conversations that the start is tuned on uses the calculator, the others answer at once.
  const start = stories(trained, 96).map(({ question, sum, answer }, i) => ({
    messages: [
      { role: 'user', content: question },
      ...(i % 6 === 0
        ? [
            { role: 'assistant', content: `CALC ${sum}` },
            { role: 'tool', content: String(answer) },
          ]
        : []),
      { role: 'assistant', content: String(answer) },
    ],
  }))
  /** @param {string} name @param {{ people: string[], things: string[] }} words @param {number} count */
  const tasks = (name, words, count) =>
    stories(words, count).map(({ question, answer }, i) => ({
      task_id: `${name}-${i + 1}`,
      instruction: question,
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: String(answer) },
    }))
  return {
    'data/start.jsonl': lines(start),
    'data/train.jsonl': lines(tasks('train', trained, 256)),
    'data/val/tasks.jsonl': lines(tasks('val', heldOut.val, 48)),
    'data/val/metadata.yaml':
      'name: stories-val\ndescription: Stories of people and things that no training row names.\nversion: 1\n',
    'data/test/tasks.jsonl': lines(tasks('test', heldOut.test, 96)),
    'data/test/metadata.yaml':
      'name: stories-test\ndescription: Stories of people and things that neither training nor validation names.\nversion: 1\n',
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
