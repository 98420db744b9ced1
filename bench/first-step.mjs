// From a command line to the first step of training on `evsys/tiny`: processes, plugins, model, kernels, and the step itself. Limit:
// 2 s on WebAssembly, on a machine that has never run evsys. Where a compiler is, the first native build is announced and takes less
// than 10 s.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findCompiler } from '../build/engine/cpu/native-build.js'
import { openStore } from '../dist/store/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 2000
const buildLimitMs = 10_000
const rounds = Number(process.argv[2] ?? 5)
const evsys = fileURLToPath(new URL('../bin/evsys.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
let projects = 0

/** @param {string[]} args @param {string} cwd @param {Record<string, string>} env */
function run(args, cwd, env) {
  const options = { cwd, encoding: /** @type {const} */ ('utf8'), env: { ...process.env, ...env } }
  const { status, stdout, stderr } = spawnSync(process.execPath, [evsys, ...args], options)
  if (status !== 0) throw new Error(`evsys ${args.join(' ')} exited with ${status}: ${stderr}`)
  return { stdout, stderr }
}

/** Milliseconds until the first step of a new project's first run. @param {Record<string, string>} env */
async function firstStepMs(env) {
  const project = join(folder, `project-${++projects}`)
  run(['init', project], folder, env)
  const experiment = join(project, 'experiments', 'tiny')
  mkdirSync(experiment, { recursive: true })
  writeFileSync(
    join(experiment, 'config.yaml'),
    `version: 1
name: tiny
run:
  data:
    path: ../../data/train.jsonl
    transforms:
      - { kind: jsonl_to_chat, params: { user_template: "Query: {query}", assistant_template: "{intent}" } }
  model: { name: evsys/tiny }
  algorithm: { kind: sft, params: { max_steps: 1, batch_size: 8, lora_rank: 8 } }
  backend: { kind: local }
`,
  )
  const began = Date.now()
  const { stdout } = run(['run', 'experiments/tiny/config.yaml', '--json'], project, env)
  const store = await openStore(join(project, '.evsys', 'evsys.db'))
  const [row] = await store.runs(JSON.parse(stdout).experiment_id)
  const stream = `run:${row?.id}`
  const [step] = await store.events({ stream, afterSeq: 0, limit: 1, types: ['step.finished'] })
  await store[Symbol.asyncDispose]()
  if (row === undefined || step === undefined) throw new Error(`no step was done: ${stdout}`)
  return { ms: Date.parse(step.at) - began, engine: row.engineId ?? '' }
}

const hasCompiler = (await findCompiler()) !== undefined
const warm = join(folder, 'cache')
if (hasCompiler) run(['engine', 'build'], folder, { EVSYS_CACHE: warm })
/** @type {{ name: string, env: () => Record<string, string>, limit?: number }[]} */
const contenders = [
  {
    name: 'WebAssembly, nothing in the cache',
    env: () => ({ EVSYS_ENGINE: 'wasm', EVSYS_CACHE: mkdtempSync(join(folder, 'cache-')) }),
    limit: limitMs,
  },
  { name: 'WebAssembly, later', env: () => ({ EVSYS_ENGINE: 'wasm', EVSYS_CACHE: warm }), limit: limitMs },
  ...(hasCompiler ? [{ name: 'native, later', env: () => ({ EVSYS_ENGINE: 'native', EVSYS_CACHE: warm }) }] : []),
]
/** @type {Map<string, number[]>} */
const times = new Map(contenders.map(({ name }) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const { name, env } of contenders) times.get(name)?.push((await firstStepMs(env())).ms)
}
/** @param {readonly number[]} values */
const best = (values) => Math.min(...values)
/** @param {readonly number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const rows = contenders.map(({ name, limit }) => ({ name, limit, values: times.get(name) ?? [] }))
if (hasCompiler) {
  const values = [1, 2].map(() => {
    const { stdout, stderr } = run(['engine', 'build', '--force', '--json'], folder, { EVSYS_CACHE: warm })
    if (!stderr.includes('compiling')) throw new Error('the build was not announced')
    return 1000 * JSON.parse(stdout).took_s
  })
  rows.push({ name: 'native build', limit: buildLimitMs, values })
}
rmSync(folder, { recursive: true, force: true })

console.log(
  `\nFirst step, best and median of ${rounds}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`,
)
printTable([
  ['until the first step', 'best ms', 'median ms', 'limit ms'],
  ...rows.map(({ name, limit, values }) => [
    name,
    best(values).toFixed(0),
    median(values).toFixed(0),
    limit === undefined ? '' : String(limit),
  ]),
])
process.exitCode = rows.every(({ limit, values }) => limit === undefined || best(values) <= limit) ? 0 : 1
