// Where the engine's time goes: first the share of the kernels with programs run whole, then operation by operation, each run by
// itself, which adds the start and end of a program to each of them.
//
//   node bench/engine/profile.mjs [case] [native|wasm] [threads]

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCpuEngine } from '../../build/engine/cpu/cpu-engine.js'
import { memoryBound } from '../../build/engine/cpu/open-cpu-engine.js'
import { openRuntime } from '../../build/engine/cpu/open-runtime.js'
import { ops } from '../../build/engine/cpu/ops.js'
import { printTable } from '../best-of.mjs'
import { cases, tokensOf } from './cases.mjs'
import { makeModel } from './make-model.mjs'

const [name = 'step', kind = 'native', threads = '2'] = process.argv.slice(2)
const of = cases.find((each) => each.name === name)
if (of === undefined) throw new Error(`no case is called ${name}`)
const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const runtime = await openRuntime({
  kind: kind === 'wasm' ? 'wasm' : 'native',
  threads: Number(threads),
  cacheFolder: join(folder, 'cache'),
  capacityBytes: memoryBound(),
})
/** @typedef {{ ms: number, calls: number, flops: number }} Cost @type {Map<string, Cost>} */
let costs = new Map()
let isWhole = true
/** @type {Map<number, { op: string, args: [string, string][] }>} */
const known = new Map(Object.entries(ops).map(([op, { code, args }]) => [code, { op, args: Object.entries(args) }]))
const words16 = 0xffff

const profiled = {
  ...runtime,
  /** @param {{ words: Int32Array }} program */
  run(program) {
    if (isWhole) return timed('all', 0, program.words)
    for (let at = 0; at < program.words.length; ) {
      const { op, args } = known.get((program.words[at] ?? 0) & words16) ?? { op: '', args: [] }
      if (op === '') throw new Error(`a program holds the operation ${program.words[at]}`)
      const words = program.words.slice(at, at + 1 + args.length)
      at += words.length
      const given = Object.fromEntries(args.map(([arg], i) => [arg, words[i + 1] ?? 0]))
      timed(...labelled(op, given), words)
    }
  },
}

/** @param {string} label @param {number} flops @param {Int32Array} words */
function timed(label, flops, words) {
  const began = performance.now()
  runtime.run(/** @type {any} */ ({ words }))
  const cost = costs.get(label) ?? { ms: 0, calls: 0, flops: 0 }
  costs.set(label, { ms: cost.ms + performance.now() - began, calls: cost.calls + 1, flops: cost.flops + flops })
}

/** @param {string} op @param {Record<string, number>} given @returns {[string, number]} */
function labelled(op, given) {
  const { m = 0, n = 0, k = 0, transA, transB, bType, accumulate, rows, width, vocab } = given
  if (op === 'gemm' || op === 'gemmPacked') {
    const marks = [transA ? 'a^T' : '', transB ? 'b^T' : '', bType ? 'bf16' : '', accumulate ? '+=' : '']
    return [`${op} ${m} x ${n} x ${k} ${marks.filter(Boolean).join(' ')}`, 2 * m * n * k]
  }
  // Without the logits, which the gradient computes again where they were not kept.
  const products = op === 'head' ? 1 : op === 'headBack' ? 1 + (given.dw ? 1 : 0) : 0
  if (products > 0 && rows && width && vocab) return [op, 2 * products * rows * width * vocab]
  return [op, 0]
}

const { signal } = new AbortController()
const model = 'm'
try {
  makeModel(of.model, join(folder, of.model))
  const engine = createCpuEngine({ resolve: async () => ({ folder: join(folder, of.model) }), runtime: profiled })
  const adapter = { seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: false }
  const lora = of.rank === undefined ? {} : { lora: { ...adapter, rank: of.rank } }
  await engine.run({ op: 'create', model, baseModel: 'bench', ...lora }, signal)
  const rounds = of.kind === 'sample' ? 8 : of.model === 'tenth' ? 2 : 5
  for (const whole of [true, false]) {
    isWhole = whole
    for (let round = 0; round < 3; round++) await turn(engine, round)
    costs = new Map()
    const began = performance.now()
    for (let round = 0; round < rounds; round++) await turn(engine, round)
    const total = (performance.now() - began) / rounds
    report(total, rounds)
  }
  await engine[Symbol.asyncDispose]()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @param {import('../../dist/contracts/index.js').Engine} engine @param {number} seed */
async function turn(engine, seed) {
  if (of === undefined) return
  const { inputs, targets } = tokensOf(of)
  if (of.kind === 'sample') {
    const prompt = Int32Array.from(inputs[0] ?? [])
    const request = { prompt, numSamples: of.batch, maxTokens: of.length, temperature: 1, seed }
    await engine.run({ op: 'sample', model, request }, signal)
    return
  }
  const data = targets.map((row, i) => ({
    tokens: Int32Array.from(inputs[i] ?? []),
    lossInputs: {
      target_tokens: { data: Int32Array.from(row), shape: [row.length] },
      weights: { data: new Float32Array(row.length).fill(1 / (of.batch * of.length)), shape: [row.length] },
    },
  }))
  await engine.run({ op: 'forward_backward', model, data, loss: { name: 'cross_entropy' } }, signal)
  await engine.run(
    { op: 'optim_step', model, adam: { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8 } },
    signal,
  )
}

/** @param {number} total @param {number} rounds */
function report(total, rounds) {
  const inside = [...costs.values()].reduce((sum, { ms }) => sum + ms, 0) / rounds
  console.log(`\n${name}, ${kind}, threads ${threads}: ${total.toFixed(2)} ms, in kernels ${inside.toFixed(2)} ms`)
  const sorted = [...costs].sort(([, a], [, b]) => b.ms - a.ms)
  printTable([
    ['operation', 'calls', 'ms', '% of all', 'GFLOP/s'],
    ...sorted.map(([label, { ms, calls, flops }]) => [
      label,
      String(calls / rounds),
      (ms / rounds).toFixed(2),
      ((100 * ms) / rounds / total).toFixed(1),
      flops > 0 ? (flops / ms / 1e6).toFixed(0) : '',
    ]),
    ['outside kernels', '', (total - inside).toFixed(2), (100 * (1 - inside / total)).toFixed(1), ''],
  ])
}
