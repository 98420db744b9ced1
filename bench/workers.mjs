// What a run costs beside its training: a sweep of one-step runs on the mock backend, through the worker pool alone, in workers that are
// shut in and in workers that are not, in turns. Overhead is the time of a call to the pool less the time that the run itself took, as it
// tells. Limit: 10 ms in steady state, and memory that does not grow.
//
// Then what the sandbox adds: to the first run of a new worker, to `evsys run` with one step (limit of both: 60 ms), and to a step of the
// backend `local` (limit: 1 %), in turns as well.
//
//   node bench/workers.mjs [RUNS] [ROUNDS]

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createWorkerPool } from '../build/lab/workers/worker-pool.js'
import { workerSandbox } from '../build/lab/workers/worker-sandbox.js'
import { findProcessLevel } from '../build/sandbox/process-level.js'
import { RunAssignment } from '../dist/contracts/index.js'
import { openStore } from '../dist/store/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 10
const limitMb = 50
const startLimitMs = 60
const stepLimit = 1.01
const runs = Number(process.argv[2] ?? 1000)
const rounds = Number(process.argv[3] ?? 9)
const warm = 50
// In memory where that is possible: checkpoints are synced, and the disk is not what is measured.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'evsys-bench-'))
const { signal } = new AbortController()

const outputRoot = join(folder, '.evsys', 'runs')
mkdirSync(outputRoot, { recursive: true })
// Shown to workers where it is there when their sandbox is made.
mkdirSync(join(folder, '.evsys', 'cache'), { recursive: true })

/** @param {number} number */
function assignment(number) {
  const name = `run-${number}`
  const run_dir = join(outputRoot, name)
  const rows = ['ab', 'ba', 'cd', 'dc'].map((text) => ({
    messages: [
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ],
  }))
  return RunAssignment.parse({
    experiment_id: 'exp',
    experiment: 'bench',
    run_id: `run_${number}`,
    run_name: name,
    arm: name,
    attempt: 1,
    config: {
      name,
      data: { source_kind: 'in_memory', rows },
      model: { name: 'evsys/tiny' },
      algorithm: { kind: 'sft', params: { max_steps: 1, batch_size: 2 } },
      backend: { kind: 'mock' },
      seed: number,
    },
    config_hash: 'bench',
    run_dir,
    segment_file: join(run_dir, 'segments', '1.jsonl'),
    next_item: 1,
    next_event: 1,
    benchmarks: [],
    callbacks: [],
    project_dir: folder,
    plugin_files: [],
    log_rollouts: false,
    checkpoints_kept: 3,
  })
}

/** The seconds that a run took by its own account. @param {string} segment */
function ownSeconds(segment) {
  const { item } = JSON.parse(readFileSync(segment, 'utf8').trimEnd().split('\n').at(-1) ?? '')
  if (item.status !== 'completed') throw new Error(JSON.stringify(item))
  return item.wall_s
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}

const options = {
  onWritten() {},
  onEvaluate: () => Promise.reject(new Error('no benchmark')),
  stopping: signal,
  signal,
}
// Idle workers keep no process alive.
const awake = setInterval(() => {}, 60_000)
const { level, reason } = await findProcessLevel()
if (level === 'process') throw new Error(`nothing shuts workers in here: ${reason}`)
const place = {
  level,
  projectDir: folder,
  outputRoot,
  hidden: [],
  runs: [],
  plugins: [],
  network: false,
  read: [],
  write: [],
}
/** @type {Record<string, import('../build/lab/workers/worker-sandbox.js').WorkerSandbox | undefined>} */
const ways = { 'not shut in': undefined, [level]: workerSandbox(place) }
const names = Object.keys(ways)
const openPool = (/** @type {string} */ way) => createWorkerPool({ size: 1, projectDir: folder, sandbox: ways[way] })
let made = 0

/** Milliseconds of one run in a pool, and how many of them the run took by its own account. @param {ReturnType<typeof openPool>} pool */
async function runIn(pool) {
  const assigned = assignment(made++)
  const began = performance.now()
  const ended = await pool.run(assigned, options)
  const ms = performance.now() - began
  if (ended.outcome !== 'finished') throw new Error(JSON.stringify(ended))
  const own = ownSeconds(assigned.segment_file) * 1000
  rmSync(assigned.run_dir, { recursive: true })
  return { ms, own }
}

/** Each way in turn, so often; the other first every second time. @param {number} times @param {(way: string, time: number) => Promise<void>} work */
async function inTurns(times, work) {
  for (let time = 0; time < times; time++)
    for (const way of time % 2 === 0 ? names : [...names].reverse()) await work(way, time)
}

/** @returns {Record<string, number[]>} */
const perWay = () => Object.fromEntries(names.map((way) => [way, []]))
const [overheads, starts, commands, steps] = [perWay(), perWay(), perWay(), perWay()]
let residentMb = 0
const pools = Object.fromEntries(names.map((way) => [way, openPool(way)]))
await inTurns(warm + runs, async (way, number) => {
  if (number === warm && residentMb === 0) residentMb = process.memoryUsage.rss() / 2 ** 20
  const { ms, own } = await runIn(pools[way] ?? openPool(way))
  if (number >= warm) overheads[way]?.push(ms - own)
})
for (const way of names) await pools[way]?.[Symbol.asyncDispose]()
const grownMb = process.memoryUsage.rss() / 2 ** 20 - residentMb

await inTurns(rounds, async (way) => {
  const began = performance.now()
  const pool = openPool(way)
  await runIn(pool)
  starts[way]?.push(performance.now() - began)
  await pool[Symbol.asyncDispose]()
})

const evsys = fileURLToPath(new URL('../bin/evsys.js', import.meta.url))
/** A command from its start to its end. @param {string} way @param {string} backend @param {number} count */
function command(way, backend, count) {
  const cwd = mkdtempSync(join(folder, 'project-'))
  writeFileSync(
    join(cwd, 'e.yaml'),
    `version: 1
name: bench
run:
  data: { source_kind: in_memory, rows: [{ messages: [{ role: user, content: ab }, { role: assistant, content: ba }] }] }
  model: { name: evsys/tiny }
  algorithm: { kind: sft, params: { max_steps: ${count}, batch_size: 1, lora_rank: 8 } }
  backend: { kind: ${backend} }
`,
  )
  const args = [evsys, 'run', 'e.yaml', '--json', '--sandbox', ways[way] === undefined ? 'process' : 'auto']
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  const ms = performance.now() - began
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
  return { cwd, ms, experiment: JSON.parse(stdout).experiment_id }
}

command(level, 'mock', 1) // the level that works here is kept from now on
await inTurns(rounds, async (way) => {
  const { cwd, ms } = command(way, 'mock', 1)
  commands[way]?.push(ms)
  rmSync(cwd, { recursive: true })
})
const counted = 120
await inTurns(rounds, async (way) => {
  const { cwd, experiment } = command(way, 'local', counted)
  const store = await openStore(join(cwd, '.evsys', 'evsys.db'))
  const [run] = await store.runs(experiment)
  const done = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 10_000, types: ['step.finished'] })
  await store[Symbol.asyncDispose]()
  const times = done.map(({ at }) => Date.parse(at))
  steps[way]?.push(((times.at(-1) ?? Number.NaN) - (times[19] ?? Number.NaN)) / (times.length - 20))
  rmSync(cwd, { recursive: true })
})
rmSync(folder, { recursive: true, force: true })

/** @param {number | undefined} value */
const shown = (value) => String(Math.round((value ?? Number.NaN) * 100) / 100)
/** @param {number[]} values */
const mean = (values) => values.reduce((sum, ms) => sum + ms, 0) / values.length
const [bare = '', shut = ''] = names
/** Median of the differences of a turn. @param {Record<string, number[]>} times */
const added = (times) =>
  quantile(
    (times[shut] ?? []).map((ms, i) => ms - (times[bare]?.[i] ?? Number.NaN)),
    0.5,
  )

console.log(`\nOverhead of ${runs} one-step runs, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`)
printTable([
  ['worker', 'mean ms', 'median ms', '90 % ms', 'limit ms'],
  ...names.map((way) => {
    const values = overheads[way] ?? []
    return [way, ...[mean(values), quantile(values, 0.5), quantile(values, 0.9), limitMs].map(shown)]
  }),
])
console.log(`\nThe controller grew by ${shown(grownMb)} MB, limit ${limitMb} MB.\n`)
/** @type {[string, Record<string, number[]>, string, boolean][]} */
const compared = [
  ['first run of a new worker, ms', starts, `+ ${startLimitMs} ms`, added(starts) <= startLimitMs],
  ['`evsys run`, mock, 1 step, ms', commands, `+ ${startLimitMs} ms`, added(commands) <= startLimitMs],
  ['a step of `local`, ms', steps, `x ${stepLimit}`, true],
]
printTable([
  ['what', ...names, 'added', 'ratio', 'limit'],
  ...compared.map(([what, times, limit]) => {
    const medians = names.map((way) => quantile(times[way] ?? [], 0.5))
    return [what, ...medians.map(shown), shown(added(times)), shown((medians[1] ?? 0) / (medians[0] ?? 1)), limit]
  }),
])
const isSlow = names.some((way) => mean(overheads[way] ?? []) > limitMs) || compared.some(([, , , holds]) => !holds)
process.exitCode = isSlow || grownMb > limitMb ? 1 : 0
clearInterval(awake)
