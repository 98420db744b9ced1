// How long every row of docs/reference/faults.md takes: until it says what it waits for, until it ends, until the first Ctrl-C has ended
// it, and until two have. A row that waits is interrupted when it has said for what; another one half way to its end.
//
//   node bench/faults.mjs [PART OF A NAME]...
//
// Past its limit: a row that has not said within 15 s what it waits for or how it ended, or that the first Ctrl-C does not end in 15 s.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { printTable } from './best-of.mjs'

const jiti = createJiti(import.meta.url)
/** @type {typeof import('../tests/faults/fault-table.ts')} */
const { faultName, faults } = await jiti.import('../tests/faults/fault-table.ts')
/** @type {typeof import('../tests/faults/broken-parts.ts')} */
const { breaks, under } = await jiti.import('../tests/faults/broken-parts.ts')
const evsys = [process.execPath, fileURLToPath(new URL('../bin/evsys.js', import.meta.url))]
/** A row that waits for a signal is given this long to say for what. */
const mostMs = 120_000
const limitMs = 15_000
const names = process.argv.slice(2)
/** @type {string[]} */
const past = []

/**
 * Meets the fault once. `interrupt`: after so many ms, or `waits`: once it has said what it waits for, and how often.
 *
 * @param {typeof faults[number]} fault
 * @param {{ afterMs?: number | undefined, times: number }} interrupt
 */
async function meet(fault, { afterMs, times }) {
  const name = faultName(fault)
  const dir = mkdtempSync(join(tmpdir(), 'evsys-fault-'))
  /** @type {(() => unknown)[]} */
  const closing = []
  try {
    const args = (await breaks[name]?.({ dir, defer: (close) => void closing.push(close) })) ?? []
    const [program = '', ...rest] = [...(under[name]?.(dir) ?? evsys), ...args, '--json']
    const { TINKER_API_KEY: _, TINKER_BASE_URL: __, ...env } = process.env
    const child = spawn(program, rest, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const began = performance.now()
    const age = () => performance.now() - began
    /** @type {number | undefined} */
    let saidMs
    /** @type {number | undefined} */
    let signalledMs
    let said = ''
    const interrupt = () => {
      if (times === 0 || signalledMs !== undefined) return
      signalledMs = age()
      child.kill('SIGINT')
      if (times > 1) setTimeout(() => child.kill('SIGINT'), 50)
    }
    if (afterMs !== undefined) setTimeout(interrupt, afterMs)
    const late = setTimeout(() => child.kill('SIGKILL'), mostMs)
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      if (saidMs !== undefined || fault.waits === undefined || !said.includes(fault.waits)) return
      saidMs = age()
      if (afterMs === undefined) interrupt()
    })
    /** @type {number | string} */
    const code = await new Promise((resolve) => child.once('exit', (exit, signal) => resolve(exit ?? signal ?? '')))
    clearTimeout(late)
    return { code, saidMs, endMs: age(), tookMs: signalledMs === undefined ? undefined : age() - signalledMs }
  } finally {
    for (const close of closing.reverse()) await close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** @param {number | undefined} ms */
const seconds = (ms) => (ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`)
const rows = [
  ['what fails', 'says what it waits for', 'ends by itself', 'first Ctrl-C', 'exit code', 'two', 'exit code'],
]
for (const fault of faults) {
  if (names.length > 0 && !names.some((name) => faultName(fault).includes(name))) continue
  const endless = fault.ends === 'on the first signal'
  const whole = endless ? undefined : await meet(fault, { times: 0 })
  // A row that ends soon is interrupted on its way there.
  const afterMs = fault.waits === undefined && whole !== undefined ? whole.endMs / 2 : undefined
  const once = await meet(fault, { afterMs, times: 1 })
  const twice = await meet(fault, { afterMs, times: 2 })
  rows.push([
    faultName(fault),
    seconds(whole?.saidMs ?? once.saidMs),
    seconds(whole?.endMs),
    ...[once, twice].flatMap(({ tookMs, code }) => (tookMs === undefined ? ['', ''] : [seconds(tookMs), String(code)])),
  ])
  process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`)
  const said = whole?.saidMs ?? once.saidMs ?? whole?.endMs ?? Number.POSITIVE_INFINITY
  if (said > limitMs || (once.tookMs ?? 0) > limitMs) past.push(faultName(fault))
}
console.log(
  `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(0)}\n`,
)
printTable(rows)
for (const name of past) console.log(`PAST A LIMIT: ${name}`)
process.exitCode = past.length === 0 ? 0 : 1
