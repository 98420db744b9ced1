// The CPU engine, native and as WebAssembly, against PyTorch on the same threads, weights and tokens, and against what the cores can
// do at most.
//
//   node bench/engine/index.mjs [case...] [--threads=2,1] [--rounds=N] [--json=FILE]
//
// PyTorch is taken from the environment that scripts/bench-python.sh makes, or from EVSYS_BENCH_PYTHON, a Python program.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuLevel, findCompiler } from '../../build/engine/cpu/native-build.js'
import { printTable } from '../best-of.mjs'
import { cases, gigaflops } from './cases.mjs'
import { judge } from './limits.mjs'
import { makeModel } from './make-model.mjs'
import { measure } from './measure.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: [...new Set([Math.min(2, cpus().length), 1])].join() },
    rounds: { type: 'string' },
    json: { type: 'string' },
  },
})
const unknown = positionals.filter((name) => !cases.some((each) => each.name === name))
if (unknown.length > 0) throw new Error(`no case is called ${unknown}; known: ${cases.map(({ name }) => name)}`)
const chosen = cases.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const compiler = await findCompiler()
const python = pythonWithTorch()
const kinds = [...(compiler === undefined ? [] : ['native']), 'wasm']
if (compiler === undefined) console.log('No C compiler: native kernels and the peak of the cores are not measured')
if (python === undefined) console.log('No PyTorch: run scripts/bench-python.sh to compare with it')

const results = []
try {
  for (const model of new Set(chosen.map((each) => each.model))) makeModel(model, join(folder, model))
  for (const threads of values.threads.split(',').map(Number)) {
    let peak = peakGflops(threads)
    for (const of of chosen) {
      const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
      const options = { threads, rounds, folder, cacheFolder: join(folder, 'cache'), kinds, python }
      const others = await othersBusy()
      const measured = await measure(of, options)
      peak = Math.max(peak, peakGflops(threads)) // the cores slow down when others use the machine
      results.push({ of, threads, measured })
      report(of, threads, measured, { peak, others })
      rmSync(join(folder, `adapter-${of.name}`), { recursive: true, force: true })
    }
    for (const result of results.filter((each) => each.threads === threads)) Object.assign(result, { peak })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results, null, 1))
const rows = judge(/** @type {any} */ (results)) // with their peak, set above
if (rows.length > 0) {
  console.log('\nLimits')
  printTable([['what', 'threads', 'figure', 'limit', ''], ...rows])
}
process.exitCode = rows.some((row) => row.includes('missed')) ? 1 : 0

/** @param {import('./cases.mjs').Case} of @param {number} threads @param {import('./measure.mjs').Measured[]} measured @param {{ peak: number, others: number }} machine */
function report(of, threads, measured, { peak, others }) {
  const version = measured.find(({ details }) => details.torch)?.details.torch
  const facts = [
    `Node ${process.versions.node}`,
    ...(version ? [`torch ${version}`] : []),
    `others ${others.toFixed(0)} %`,
  ]
  console.log(`\n${of.name}: ${of.title}, threads ${threads} (${facts.join(', ')})`)
  const peers = measured.filter(({ name }) => !kinds.includes(name))
  const fastest = Math.min(...peers.map(({ best }) => best))
  const lightest = Math.min(...peers.map(({ peakMb }) => peakMb))
  const speed = speedOf(of)
  printTable([
    ['engine', 'best ms', 'median ms', speed.unit, '% of peak', 'x PyTorch', 'peak MB', 'x memory', 'model ms'],
    ...measured.map(({ name, best, median, peakMb, details }) => [
      name,
      best.toFixed(1),
      median.toFixed(1),
      speed.of(best),
      of.kind === 'train' && peak > 0 ? ((100 * gigaflops(of)) / (best / 1000) / peak).toFixed(0) : '',
      peers.length > 0 ? (fastest / best).toFixed(2) : '',
      peakMb.toFixed(0),
      peers.length > 0 ? (peakMb / lightest).toFixed(2) : '',
      details.loadMs.toFixed(0),
    ]),
  ])
  if (peak > 0) console.log(`peak ${peak.toFixed(0)} GFLOP/s`)
}

/** @param {import('./cases.mjs').Case} of */
function speedOf({ kind, batch, length }) {
  if (kind === 'load') return { unit: '', of: () => '' }
  return { unit: 'tokens/s', of: (/** @type {number} */ ms) => ((1000 * batch * length) / ms).toFixed(0) }
}

/** Share of the processors that others use, in %, while this bench sleeps. */
async function othersBusy() {
  const times = () =>
    cpus().reduce(
      ([idle, all], { times: { user, nice, sys, idle: own, irq } }) => {
        return /** @type {[number, number]} */ ([idle + own, all + user + nice + sys + own + irq])
      },
      /** @type {[number, number]} */ ([0, 0]),
    )
  const [idle, all] = times()
  await setTimeout(500)
  const [idleThen, allThen] = times()
  return 100 * (1 - (idleThen - idle) / (allThen - all))
}

/** 0 where it cannot be measured. @param {number} threads */
function peakGflops(threads) {
  if (compiler === undefined) return 0
  const program = join(folder, 'peak')
  if (!existsSync(program)) {
    const { name, flags } = cpuLevel()
    const lanes = { avx512: 16, avx2: 8 }[name] ?? 4
    const source = fileURLToPath(new URL('peak.c', import.meta.url))
    execFileSync(compiler, [
      ...['-O3', '-ffp-contract=fast', '-pthread', ...flags, `-DLANES=${lanes}`, source, '-o', program],
    ])
  }
  return Number(execFileSync(program, [String(threads)], { encoding: 'utf8' }))
}

function pythonWithTorch() {
  const made = fileURLToPath(new URL('../../.tmp/bench-python/bin/python', import.meta.url))
  const found = process.env.EVSYS_BENCH_PYTHON ?? made
  try {
    execFileSync(found, ['-c', 'import torch, transformers, peft'], { stdio: 'ignore' })
    return found
  } catch {
    return undefined
  }
}
