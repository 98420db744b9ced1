// `node bench/trainer-abuse.mjs [MINUTES]`: two keys on one `evsys serve`, a process as users start it. One key abuses it in every way
// that is listed below, the other trains, saves, samples and completes. Every ten seconds the memory, open files, files and processes of
// the server are counted. Past its limit: a wrong or slow answer for the honest key, an answer of the 500s, or growth of what is counted.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { printTable } from './best-of.mjs'

const minutes = Number(process.argv[2] ?? 10)
const everyMs = 10_000
const limits = { shortMs: 2000, growth: 1.25, growthMb: 64, descriptors: 16 }
const [abuser, honest, alone] = ['tml-abuser', 'tml-honest', 'tml-alone']

const home = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const scratch = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const program = fileURLToPath(new URL('../bin/evsys.js', import.meta.url))
/** Starts a server and waits for its address. @param {string} name @param {string} keys */
async function serve(name, keys) {
  const server = spawn(
    process.execPath,
    [program, 'serve', '--engine', 'cpu', '--model', 'evsys/tiny', '--port', '0', '--json', '--dir', join(home, name)],
    {
      cwd: home,
      env: { ...process.env, EVSYS_SERVE_KEYS: keys, TMPDIR: scratch },
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
  return { server, url }
}

const { server, url } = await serve('trainer', `owner:tml-owner,${abuser},${honest}`)
// What the machine itself delays is seen on a second server, which no one abuses.
const control = await serve('control', alone)
const port = Number(new URL(url).port)
/** @type {Map<string, number>} */
const answers = new Map()
/** @type {string[]} */
const faults = []
let isOver = false

/**
 * @param {string} key @param {string} method @param {string} path @param {unknown} [body] @param {{ signal?: AbortSignal, headers?: Record<string, string> }} [options]
 */
async function ask(key, method, path, body, { signal, headers = {} } = {}) {
  const isRaw = body instanceof Uint8Array || typeof body === 'string'
  const response = await fetch(
    `${key === alone ? control.url : url}${path.startsWith('/v1') ? path : `/api/v1/${path}`}`,
    {
      method,
      redirect: 'manual',
      headers: { 'x-api-key': key, authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: isRaw ? /** @type {any} */ (body) : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    },
  )
  const text = await response.text()
  if (response.status >= 500) faults.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
  if (key === abuser) answers.set(`${response.status}`, (answers.get(`${response.status}`) ?? 0) + 1)
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : {} }
}

/** @param {string} key @param {string} path @param {unknown} body */
async function run(key, path, body) {
  const promised = await ask(key, 'POST', path, body)
  if (promised.status !== 200) throw new Error(`${path}: ${promised.status} ${JSON.stringify(promised.body)}`)
  for (;;) {
    const { body: answer } = await ask(key, 'POST', 'retrieve_future', { request_id: promised.body.request_id })
    if (answer.type !== 'try_again') return answer
  }
}

/** @param {string} key @param {number} tokens @param {AbortSignal} [signal] */
const complete = (key, tokens, signal) =>
  ask(
    key,
    'POST',
    '/v1/completions',
    { model: 'evsys/tiny', prompt: 'Once upon a time', max_tokens: tokens, seed: 1, temperature: 0 },
    signal === undefined ? {} : { signal },
  )

const datum = (/** @type {number} */ length) => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens: Array.from({ length }, (_, at) => at % 200) }] },
  loss_fn_inputs: {
    target_tokens: { data: Array.from({ length }, (_, at) => (at + 1) % 200), dtype: 'int64', shape: [length] },
    weights: { data: Array.from({ length }, () => 1), dtype: 'float32', shape: [length] },
  },
})
const pass = (/** @type {string} */ model_id, /** @type {number} */ seq_id, length = 8) => ({
  model_id,
  seq_id,
  forward_backward_input: { data: [datum(length)], loss_fn: 'cross_entropy' },
})
const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] }
const session = async (/** @type {string} */ key) =>
  String((await ask(key, 'POST', 'create_session', { tags: [], sdk_version: 'bench' })).body.session_id)

// The honest key.
/** @type {number[]} */
const shortMs = []
/** The same request to the server that no one abuses, right after it. @type {number[]} */
const controlMs = []
/** @type {{ model: string, path: string }} */
const seen = { model: '', path: '' }
let trainings = 0

async function completes() {
  let first = ''
  while (!isOver) {
    const began = performance.now()
    const { status, body } = await complete(honest, 5)
    shortMs.push(performance.now() - began)
    const then = performance.now()
    await complete(alone, 5)
    controlMs.push(performance.now() - then)
    const text = String(body.choices?.[0]?.text)
    if (first === '') first = text
    if (status !== 200 || text !== first) faults.push(`a completion: ${status} ${text} instead of ${first}`)
    await pause(1000)
  }
}

async function trains() {
  let first = ''
  while (!isOver) {
    const session_id = await session(honest)
    const made = { session_id, model_seq_id: 0, base_model: 'evsys/tiny', lora_config: { rank: 4, seed: 7 } }
    const model = String((await run(honest, 'create_model', made)).model_id)
    for (let step = 0; step < 3; step++) {
      await run(honest, 'forward_backward', pass(model, 2 * step + 1))
      await run(honest, 'optim_step', { model_id: model, seq_id: 2 * step + 2, adam_params: { learning_rate: 0.01 } })
    }
    const last = await run(honest, 'forward_backward', pass(model, 7))
    const loss = JSON.stringify(last.metrics?.['loss:sum'] ?? last.metrics)
    if (first === '') first = loss
    if (loss !== first || loss === undefined) faults.push(`a training: loss ${loss} instead of ${first}`)
    const { path } = await run(honest, 'save_weights_for_sampler', { model_id: model, seq_id: 8, path: 'mine' })
    Object.assign(seen, { model, path })
    await pause(500)
    const [, place] = /^tinker:\/\/(.*)$/.exec(path) ?? []
    const route = `training_runs/${place?.replace('/sampler_weights/', '/checkpoints/sampler_weights/')}`
    const { status } = await ask(honest, 'DELETE', route)
    if (status !== 204) faults.push(`a deletion: ${status}`)
    await ask(honest, 'POST', `sessions/${session_id}/finish`, { reason: { type: 'success' } })
    trainings++
  }
}

// The abuser. A draw that repeats with its seed.
let state = 1
const draw = (/** @type {number} */ n) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % n
}
const many = (/** @type {number} */ n, /** @type {(at: number) => Promise<unknown>} */ one) =>
  Promise.all(Array.from({ length: n }, (_, at) => one(at).catch(() => 0)))
/** @param {number} ms @param {(signal: AbortSignal) => Promise<unknown>} work */
async function leavingAfter(ms, work) {
  const leaving = new AbortController()
  const done = work(leaving.signal).catch(() => 0)
  await pause(ms)
  leaving.abort()
  await done
}
const bytes = (/** @type {number} */ n) => Uint8Array.from({ length: n }, () => draw(256))
const sound = () => JSON.stringify([pass('m', 1), { base_model: 'evsys/tiny', prompt, num_samples: 1 }][draw(2)])
const paths = 'forward_backward forward optim_step save_weights load_weights asample create_model telemetry'.split(' ')

const large = {
  parts: Buffer.from(`{"data":[${'{},'.repeat(1_200_000)}{}]}`),
  spaces: Buffer.alloc(20 << 20, 0x20),
  protobuf: Buffer.alloc(8 << 20, Buffer.from([0x1a, 0x00])),
}

/** @type {Record<string, () => Promise<unknown>>} */
const abuses = {
  'long completions whose clients leave': () =>
    leavingAfter(100 + draw(400), (signal) => many(60, () => complete(abuser, 400, signal))),
  'streams that are left': () =>
    leavingAfter(100 + draw(200), (signal) =>
      many(20, () =>
        ask(
          abuser,
          'POST',
          '/v1/chat/completions',
          { model: 'evsys/tiny', messages: [{ role: 'user', content: 'x' }], max_tokens: 300, stream: true },
          { signal },
        ),
      ),
    ),
  'samples that no one asks for': () =>
    many(40, () =>
      ask(abuser, 'POST', 'asample', {
        base_model: 'evsys/tiny',
        prompt,
        num_samples: 2,
        sampling_params: { max_tokens: 20 },
      }),
    ),
  'polls that are left': async () => {
    const sample = { base_model: 'evsys/tiny', prompt, num_samples: 8, sampling_params: { max_tokens: 500 } }
    const { body } = await ask(abuser, 'POST', 'asample', sample)
    await leavingAfter(100, (signal) =>
      many(50, () => ask(abuser, 'POST', 'retrieve_future', { request_id: body.request_id }, { signal })),
    )
    await ask(abuser, 'POST', 'cancel_future', { request_id: body.request_id })
  },
  'damaged JSON': () =>
    many(40, () => {
      const text = sound()
      const at = draw(text.length)
      return ask(
        abuser,
        'POST',
        paths[draw(paths.length)] ?? '',
        text.slice(0, at) + '{"[9\\'[draw(5)] + text.slice(at + draw(9)),
      )
    }),
  'random bytes as protobuf and zstd': () =>
    many(40, () =>
      ask(abuser, 'POST', 'forward_backward', bytes(draw(3000)), {
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': ['identity', 'zstd'][draw(2)] ?? '' },
      }),
    ),
  'bodies of many megabytes': async () => {
    await ask(abuser, 'POST', 'forward_backward', large.parts)
    await ask(abuser, 'POST', 'asample', large.spaces)
    await ask(abuser, 'POST', 'forward_backward', large.protobuf, {
      headers: { 'content-type': 'application/x-protobuf' },
    })
  },
  'bodies that never end': async () => {
    const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    const head = `POST /api/v1/asample HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${abuser}\r\ncontent-length: 9000000\r\n\r\n{`
    for (const socket of sockets) socket.write(head)
    await pause(300)
    for (const socket of sockets) socket.destroy()
  },
  'connections that say nothing': async () => {
    const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await pause(200)
    for (const socket of sockets) socket.destroy()
  },
  'sessions that are left open': () => many(20, () => session(abuser)),
  'models that are made and left, or unloaded': () =>
    many(4, async (at) => {
      const made = {
        session_id: await session(abuser),
        model_seq_id: 0,
        base_model: 'evsys/tiny',
        lora_config: { rank: 8 },
      }
      const { body } = await ask(abuser, 'POST', 'create_model', made)
      if (at < 3) await ask(abuser, 'POST', 'unload_model', { model_id: body.model_id })
    }),
  'passes with gaps and large passes': async () => {
    const made = {
      session_id: await session(abuser),
      model_seq_id: 0,
      base_model: 'evsys/tiny',
      lora_config: { rank: 4 },
    }
    const { body } = await ask(abuser, 'POST', 'create_model', made)
    if (body.model_id === undefined) return
    await many(10, (at) => ask(abuser, 'POST', 'forward_backward', pass(body.model_id, 2 + 2 * at, 200)))
    await ask(abuser, 'POST', `sessions/${made.session_id}/finish`, { reason: { type: 'success' } })
  },
  'checkpoints that are saved and deleted': async () => {
    const session_id = await session(abuser)
    const made = { session_id, model_seq_id: 0, base_model: 'evsys/tiny', lora_config: { rank: 4 } }
    const { body } = await ask(abuser, 'POST', 'create_model', made)
    if (body.model_id === undefined) return
    for (let at = 1; at <= 4; at++) {
      await run(abuser, 'save_weights', {
        model_id: body.model_id,
        seq_id: at,
        path: `x${at}`,
        ttl_seconds: 1 + draw(20),
      })
    }
    await ask(abuser, 'DELETE', `training_runs/${body.model_id}/checkpoints/weights/x1`)
    await ask(abuser, 'POST', `sessions/${session_id}/finish`, { reason: { type: 'success' } })
  },
  'what belongs to the other key': () =>
    many(4, async (at) => {
      const theirs = [
        () => ask(abuser, 'POST', 'get_info', { model_id: seen.model }),
        () => ask(abuser, 'POST', 'optim_step', { model_id: seen.model, seq_id: 1, adam_params: {} }),
        () => ask(abuser, 'POST', 'unload_model', { model_id: seen.model }),
        () =>
          ask(abuser, 'POST', 'asample', {
            model_path: seen.path,
            prompt,
            num_samples: 1,
            sampling_params: { max_tokens: 1 },
          }),
      ]
      const answer = await theirs[at]?.()
      if (answer?.status === 200) faults.push(`the abuser reached what is not its own (${at})`)
      const listed = JSON.stringify([
        await ask(abuser, 'GET', 'training_runs'),
        await ask(abuser, 'GET', 'checkpoints'),
      ])
      if (seen.model !== '' && listed.includes(seen.model)) faults.push('the abuser sees the model of the other key')
    }),
  'names and numbers': () =>
    many(10, (at) =>
      ask(abuser, 'POST', 'weights_info', {
        tinker_path: `tinker://${['ü', '../', '\0', '%', 'a'][at % 5]?.repeat(200)}/weights/a`,
      }),
    ),
  'unknown keys': () => many(20, () => ask(`tml-${draw(1e6)}`, 'GET', 'checkpoints')),
}

let rounds = 0
async function abuse() {
  const names = Object.keys(abuses)
  while (!isOver) {
    await abuses[names[draw(names.length)] ?? '']?.().catch(() => 0)
    rounds++
  }
}

// What the server holds: its process and all below it.
/** @param {number} pid @returns {number[]} */
const treeOf = (pid) => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return [pid, ...children.flatMap((child) => (child === '' ? [] : treeOf(Number(child))))]
  } catch {
    return []
  }
}
/** Files and folders, some of which may go meanwhile. @param {string} folder @returns {number} */
function filesIn(folder) {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.reduce((sum, each) => sum + 1 + (each.isDirectory() ? filesIn(join(folder, each.name)) : 0), 0)
  } catch {
    return 0
  }
}
function held() {
  const tree = treeOf(server.pid ?? 0)
  const sum = (/** @type {(pid: number) => number} */ of) => tree.reduce((total, pid) => total + of(pid), 0)
  const memory = (/** @type {string} */ name) => (/** @type {number} */ pid) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  const sockets = (/** @type {number} */ pid) =>
    readdirSync(`/proc/${pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
      } catch {
        return false
      }
    }).length
  return {
    rssMb: sum(memory('VmRSS')),
    peakMb: sum(memory('VmHWM')),
    descriptors: sum((pid) => readdirSync(`/proc/${pid}/fd`).length),
    sockets: sum(sockets),
    processes: tree.length,
    files: filesIn(join(home, 'trainer')),
    temporary: filesIn(scratch),
  }
}

await complete(honest, 5)
await complete(alone, 5)
const before = held()
const rows = [
  [
    'minute',
    'RSS MB',
    'open files',
    'sockets',
    'processes',
    'files',
    'temporary',
    'abuses',
    '5 tokens, worst ms',
    'on the control',
  ],
]
/** @type {ReturnType<typeof held>[]} */
const taken = []
const working = [completes(), trains(), abuse(), abuse(), abuse()]
const began = performance.now()
let heard = 0
while (performance.now() - began < minutes * 60_000) {
  await pause(everyMs)
  const now = held()
  taken.push(now)
  const isMinute = taken.length % Math.round(60_000 / everyMs) === 0
  if (isMinute || taken.length === 1) {
    const [worst, controlled] = [shortMs, controlMs].map((all) => Math.max(0, ...all.slice(heard)).toFixed(0))
    heard = shortMs.length
    const at = ((performance.now() - began) / 60_000).toFixed(1)
    rows.push([
      at,
      now.rssMb.toFixed(0),
      ...[now.descriptors, now.sockets, now.processes, now.files, now.temporary, rounds].map(String),
      String(worst),
      String(controlled),
    ])
    console.error(rows.at(-1)?.join('  '))
  }
}
isOver = true
await Promise.all(working)

// The proof of item 5, at the end of all that.
const leaving = new AbortController()
const flood = many(300, () => complete(abuser, 200, leaving.signal))
await pause(1000)
leaving.abort()
await flood
const asked = performance.now()
const { status } = await complete(honest, 5)
const afterMs = performance.now() - asked
const then = performance.now()
await complete(alone, 5)
const controlAfterMs = performance.now() - then
await pause(6000) // connections that are kept alive are closed by this side
const after = held()
rows.push([
  'after',
  after.rssMb.toFixed(0),
  ...[after.descriptors, after.sockets, after.processes, after.files, after.temporary, rounds].map(String),
  afterMs.toFixed(0),
  controlAfterMs.toFixed(0),
])

const median = (/** @type {number[]} */ values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const third = Math.max(1, Math.floor(taken.length / 3))
const [early, late] = [taken.slice(third, 2 * third), taken.slice(-third)].map((part) =>
  median(part.map(({ rssMb }) => rssMb)),
)
console.log(
  `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(0)}\n`,
)
printTable(rows)
/** Median, 95 % and worst. @param {number[]} times */
const spread = (times) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ share) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  const words = `median ${at(0.5).toFixed(0)} ms, 95 % ${at(0.95).toFixed(0)} ms, worst ${at(1).toFixed(0)} ms`
  return { median: at(0.5), words }
}
const [waited, machine] = [spread(shortMs), spread(controlMs)]
console.log(`
${rounds} abuses of ${Object.keys(abuses).length} kinds; answers to the abuser by status: ${JSON.stringify(Object.fromEntries([...answers].sort()))}
the honest key: ${trainings} trainings; ${shortMs.length} completions of 5 tokens: ${waited.words}; the same on the control: ${machine.words}
memory: ${before.rssMb.toFixed(0)} MB before, median ${early?.toFixed(0)} MB in the second third, ${late?.toFixed(0)} MB in the last, peak ${after.peakMb.toFixed(0)} MB
after 300 disconnects: 5 tokens in ${afterMs.toFixed(0)} ms (${status}), on the control ${controlAfterMs.toFixed(0)} ms`)

if ((late ?? 0) > limits.growth * (early ?? 0) + limits.growthMb) faults.push('memory grows')
if (after.descriptors - after.sockets > before.descriptors - before.sockets + limits.descriptors)
  faults.push('open files grow')
if (after.processes !== before.processes) faults.push(`${after.processes} processes instead of ${before.processes}`)
if (after.temporary > before.temporary + 8) faults.push('temporary files are left')
// On a machine that is busy otherwise, beyond what the control shows.
if (afterMs - controlAfterMs > limits.shortMs || status !== 200)
  faults.push('the short request after the disconnects is slow')
if (waited.median - machine.median > limits.shortMs) faults.push('the honest key waits too long')
for (const fault of [...new Set(faults)].slice(0, 20)) console.log(`PAST A LIMIT: ${fault}`)

for (const each of [server, control.server]) {
  const ended = new Promise((resolve) => each.once('exit', resolve))
  each.kill('SIGTERM')
  await ended
}
for (const folder of [home, scratch]) rmSync(folder, { recursive: true, force: true })
process.exitCode = faults.length === 0 ? 0 : 1
