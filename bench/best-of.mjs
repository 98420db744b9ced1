// Wall time of whole processes. The contenders take turns, so that a slow moment of the machine hits all of them, and the
// best round counts: noise only ever adds.

import { spawnSync } from 'node:child_process'

/**
 * @typedef {{ name: string, args: string[], cwd?: string }} Contender arguments of `node`
 * @param {Contender[]} contenders
 * @param {number} rounds
 * @returns {Map<string, number>} best time of each in ms
 */
export function bestOf(contenders, rounds) {
  /** @type {Map<string, number>} */
  const best = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const { name, args, cwd } of contenders) {
      const began = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', ...(cwd ? { cwd } : {}) })
      const took = performance.now() - began
      if (status !== 0) throw new Error(`${name} exited with ${status}: ${stderr}`)
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, took))
    }
  }
  return best
}

/**
 * Prints rows as a Markdown table, columns aligned.
 * @param {string[][]} rows the first is the heading
 */
export function printTable(rows) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const [heading = [], ...body] = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)))
  for (const row of [heading, widths.map((width) => '-'.repeat(width)), ...body]) console.log(`| ${row.join(' | ')} |`)
}
