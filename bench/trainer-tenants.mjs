// Two keys on one `evsys serve` with the CPU engine: what the polite one gets while the other floods the server, beside what it gets alone.
// `node bench/trainer-tenants.mjs [SECONDS]` of each measurement. Fair is half of the machine; the limit leaves room for the one piece of
// work of the other key that is being done, and for the clients, which run on the same cores. Then 300 clients disconnect.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { printTable } from './best-of.mjs'

const seconds = Number(process.argv[2] ?? 8)
const limits = { share: 1 / 3, disconnectMs: 2000 }
const keys = { flood: 'tml-flood', polite: 'tml-polite' }
const dir = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const server = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('../bin/evsys.js', import.meta.url)),
    ...['serve', '--engine', 'cpu', '--model', 'evsys/tiny', '--port', '0', '--json', '--dir', join(dir, 'trainer')],
  ],
  {
    cwd: dir,
    env: { ...process.env, EVSYS_SERVE_KEYS: Object.values(keys).join(','), TMPDIR: dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const url = await new Promise((/** @type {(url: string) => void} */ resolve, reject) => {
  server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  createInterface({ input: server.stdout }).on('line', (line) => {
    const found = /http:\/\/[\d.]+:\d+/.exec(line)
    if (found !== null) resolve(found[0])
  })
})

/** @param {string} key @param {string} path @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<any>} */
async function post(key, path, body, signal) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, 'x-api-key': key, 'content-type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`)
  return JSON.parse(text)
}

/** @param {string} key @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
async function run(key, path, body, signal) {
  const { request_id } = await post(key, `/api/v1/${path}`, body, signal)
  for (;;) {
    const answer = await post(key, '/api/v1/retrieve_future', { request_id }, signal)
    if (answer.type !== 'try_again') return answer
  }
}

/** @typedef {(key: string, signal?: AbortSignal) => Promise<unknown>} Work */
/** @param {number} tokens @returns {Work} */
const complete = (tokens) => (key, signal) =>
  post(key, '/v1/completions', { model: 'evsys/tiny', prompt: 'Once upon a time', max_tokens: tokens }, signal)

/** A model of a key, and a step of it: a pass over `rows` rows of 64 tokens, and the optimiser. @param {string} key @param {number} rows @returns {Promise<Work>} */
async function model(key, rows) {
  const { session_id } = await post(key, '/api/v1/create_session', { tags: [], sdk_version: 'bench' })
  const made = { session_id, model_seq_id: 0, base_model: 'evsys/tiny', lora_config: { rank: 8, seed: 7 } }
  const { model_id } = await run(key, 'create_model', made)
  const tokens = Array.from({ length: 64 }, (_, at) => at % 200)
  const datum = {
    model_input: { chunks: [{ type: 'encoded_text', tokens }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens, dtype: 'int64', shape: [64] },
      weights: { data: tokens.map(() => 1), dtype: 'float32', shape: [64] },
    },
  }
  const forward_backward_input = { data: Array.from({ length: rows }, () => datum), loss_fn: 'cross_entropy' }
  let seq = 1
  return async (_, signal) => {
    const pass = run(key, 'forward_backward', { model_id, seq_id: seq++, forward_backward_input }, signal)
    const step = run(key, 'optim_step', { model_id, seq_id: seq++, adam_params: { learning_rate: 1e-4 } }, signal)
    await Promise.all([pass, step])
  }
}

/** Keeps `n` pieces of work under way, each as one ends. @param {string} key @param {number} n @param {Work[]} works */
function keep(key, n, works) {
  const leaving = new AbortController()
  /** @type {number[]} */
  const times = []
  const one = async (/** @type {Work} */ work) => {
    while (!leaving.signal.aborted) {
      const began = performance.now()
      await work(key, leaving.signal).catch((error) => {
        if (!leaving.signal.aborted) throw error
      })
      if (!leaving.signal.aborted) times.push(performance.now() - began)
    }
  }
  const ended = Promise.all(Array.from({ length: n }, (_, at) => one(/** @type {Work} */ (works[at % works.length]))))
  return {
    times,
    async leave() {
      leaving.abort()
      await ended
    },
  }
}

/** What the polite key gets. @param {{ n: number, works: Work[] }} work */
async function measure({ n, works }) {
  const going = keep(keys.polite, n, works)
  await pause(seconds * 1000)
  await going.leave()
  const times = going.times.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ share) => times[Math.floor(share * (times.length - 1))] ?? Number.POSITIVE_INFINITY
  return { perSecond: times.length / seconds, median: at(0.5), worst: at(1) }
}

await complete(5)(keys.polite)
const trained = await Promise.all(Array.from({ length: 4 }, () => model(keys.flood, 32)))
const own = await model(keys.polite, 4)
const polite = {
  'completions of 5 tokens, one at a time': { n: 1, works: [complete(5)] },
  'completions of 50 tokens, eight at a time': { n: 8, works: [complete(50)] },
  'steps of 4 rows, one at a time': { n: 1, works: [own] },
}
const floods = {
  '300 completions of 200 tokens': { n: 300, works: [complete(200)] },
  'steps of 32 rows on 4 models': { n: 4, works: trained },
  both: { n: 304, works: [...trained, ...Array.from({ length: 300 }, () => complete(200))] },
}
/** @type {Map<string, Awaited<ReturnType<typeof measure>>>} */
const alone = new Map()
for (const [name, work] of Object.entries(polite)) alone.set(name, await measure(work))
const rows = [['the polite key', 'the other key', 'alone, ms', 'beside it, ms', 'worst', 'share of what it gets alone']]
let isFair = true
for (const [name, { n, works }] of Object.entries(floods)) {
  const flood = keep(keys.flood, n, works)
  await pause(1500)
  for (const [own, work] of Object.entries(polite)) {
    const before = alone.get(own)
    const now = await measure(work)
    const share = now.perSecond / (before?.perSecond ?? 0)
    isFair &&= share >= limits.share
    rows.push([
      own,
      name,
      ...[before?.median, now.median, now.worst].map((ms) => `${ms?.toFixed(0)}`),
      share.toFixed(2),
    ])
  }
  await flood.leave()
}
const flood = keep(keys.flood, 300, [complete(200)])
await pause(1000)
await flood.leave()
const began = performance.now()
await complete(5)(keys.polite)
const afterMs = performance.now() - began

console.log(
  `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(0)}\n`,
)
printTable(rows)
console.log(
  `\n5 tokens right after 300 clients disconnected: ${afterMs.toFixed(0)} ms, limit ${limits.disconnectMs} ms`,
)
if (!isFair) console.log(`PAST A LIMIT: a share below ${limits.share.toFixed(2)}`)
const ended = new Promise((resolve) => server.once('exit', resolve))
server.kill('SIGTERM')
await ended
rmSync(dir, { recursive: true, force: true })
process.exitCode = isFair && afterMs < limits.disconnectMs ? 0 : 1
