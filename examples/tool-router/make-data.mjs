// Writes data/: a log of requests with its repeats, and tasks for validation and test whose phrases and entities the log has not.
//   node make-data.mjs
// The same program writes the same bytes everywhere: draws come from a hash of what they are for.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openings, slots, tools } from './tools.mjs'

/** @typedef {import('./tools.mjs').Part} Part */
/** @typedef {{ query: string, tool_slug: string }} Row */

const slugs = Object.keys(tools)
// A test that was looked at is drawn anew.
const draws = { train: 'train', val: 'val', test: 'second test' }

/** The files by their paths. */
export function makeData() {
  /** @type {Record<string, string>} */
  const files = { 'data/train.jsonl': lines(log()) }
  for (const part of /** @type {Part[]} */ (['val', 'test'])) {
    files[`data/${part}/tasks.jsonl`] = lines(tasksOf(part, part === 'val' ? 8 : 12))
    files[`data/${part}/metadata.yaml`] =
      `name: ${part}\nversion: 1\ndescription: Requests and the tool that serves each; phrases and entities are not those of training.\n`
  }
  return files
}

// What users sent: 120 different requests for every tool, and some of them again and again, as people do.
function log() {
  const rows = slugs.flatMap((slug) => different('train', slug, 120))
  const repeated = rows.filter((row) => draw('repeated', row.query) % 12 === 0)
  const again = repeated.flatMap((row) => Array.from({ length: 5 + (draw('times', row.query) % 15) }, () => row))
  return shuffled([...rows, ...again])
}

/** @type {(part: Part, each: number) => unknown[]} */
function tasksOf(part, each) {
  return slugs.flatMap((slug) =>
    different(part, slug, each).map(({ query, tool_slug }, index) => ({
      task_id: `${part}-${slug}-${index}`,
      instruction: `Query: ${query}`,
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: `<answer>${tool_slug}</answer>` },
      metadata: { group: slug.split('.')[0], tool: slug },
    })),
  )
}

/** @type {(part: Part, slug: string, count: number) => Row[]} */
function different(part, slug, count) {
  /** @type {Map<string, Row>} */
  const found = new Map()
  for (let index = 0; found.size < count && index < 100 * count; index++) {
    const key = [draws[part], slug, index]
    const phrase = fill(pick(tools[slug]?.[part], ...key, 'phrase'), part, ...key)
    const query = sentence(pick(openings[part], ...key, 'opening'), phrase)
    found.set(query, { query, tool_slug: slug })
  }
  return [...found.values()]
}

// Choices first, since a slot may stand in one.
/** @type {(phrase: string, part: Part, ...key: unknown[]) => string} */
function fill(phrase, part, ...key) {
  return phrase
    .replace(/\(([^()]*)\)/g, (_, choices, at) => pick(String(choices).split('|'), ...key, 'choice', at))
    .replace(/\{(\w+)\}/g, (_, slot, at) => pick(slots[String(slot)]?.[part], ...key, slot, at))
    .replace(/ +/g, ' ')
    .trim()
}

/** @type {(opening: string, text: string) => string} */
function sentence(opening, text) {
  const isQuestion = /^(what|how|will|is|do I|did|has|which|can|any)\b/.test(text)
  return `${opening}${text}${isQuestion ? '?' : '.'}`.replace(/^./, (first) => first.toUpperCase())
}

/** @type {(rows: Row[]) => Row[]} */
function shuffled(rows) {
  return rows
    .map((row, index) => ({ row, at: draw('order', index, row.query) }))
    .sort((a, b) => a.at - b.at)
    .map(({ row }) => row)
}

/** @type {(items: string[] | undefined, ...key: unknown[]) => string} */
function pick(items = [], ...key) {
  return items[draw(...key) % items.length] ?? ''
}

/** @type {(...key: unknown[]) => number} */
function draw(...key) {
  return createHash('sha256').update(JSON.stringify(key)).digest().readUInt32LE()
}

/** @type {(rows: unknown[]) => string} */
function lines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(makeData())) {
    const file = join(dirname(fileURLToPath(import.meta.url)), path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
