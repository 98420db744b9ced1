// Two keys on one trainer with the CPU engine: how long a short request of one waits while the other holds the server with long ones, and
// after 300 clients have disconnected. Limit: 2 s; beside it the same request on an idle server.

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalTrainer, serveTrainer } from '../build/backends/local/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 2000
const dir = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const keys = ['tml-long', 'tml-short']
const trainer = await openLocalTrainer({ engine: 'cpu', models: ['evsys/tiny'], project: dir, dir, keys })
const server = await serveTrainer(trainer, { port: 0 })

/** @param {string} key @param {number} tokens @param {AbortSignal} [signal] @returns {Promise<number>} its status */
async function complete(key, tokens, signal) {
  const response = await fetch(`${server.url}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'evsys/tiny', prompt: 'Once upon a time', max_tokens: tokens }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  })
  await response.arrayBuffer()
  return response.status
}

/** Median and worst of some short requests, one after the other, in ms. */
async function short() {
  /** @type {number[]} */
  const times = []
  for (let round = 0; round < 7; round++) {
    const began = performance.now()
    const status = await complete('tml-short', 5)
    if (status !== 200) throw new Error(`a short request was answered with ${status}`)
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  return { median: times[3] ?? Number.NaN, worst: times[6] ?? Number.NaN }
}

/** 300 long requests, that end when they are told to. */
function flood() {
  const leaving = new AbortController()
  const sent = Array.from({ length: 300 }, () => complete('tml-long', 200, leaving.signal).catch(() => 0))
  return { leave: () => leaving.abort(), ended: Promise.all(sent) }
}

await complete('tml-short', 5)
const idle = await short()
const beside = flood()
await new Promise((resolve) => setTimeout(resolve, 1000))
const loaded = await short()
beside.leave()
await beside.ended
const began = performance.now()
await complete('tml-short', 5)
const after = performance.now() - began

console.log(
  `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(0)}`,
)
const row = (/** @type {string} */ name, /** @type {number} */ ms) => [name, ms.toFixed(0), (ms / limitMs).toFixed(2)]
printTable([
  ['5 tokens', 'ms', `of the limit of ${limitMs} ms`],
  row('idle server, median', idle.median),
  row('beside 300 requests of 200 tokens with another key, median', loaded.median),
  row('the worst of these', loaded.worst),
  row('right after these 300 disconnected', after),
])
await server[Symbol.asyncDispose]()
await trainer[Symbol.asyncDispose]()
rmSync(dir, { recursive: true, force: true })
process.exitCode = Math.max(loaded.worst, after) > limitMs ? 1 : 0
