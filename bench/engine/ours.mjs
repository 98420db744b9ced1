// The engine in a process of its own, one case. Arguments: a JSON object; then a question per line.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { exportAdapter, loadCpuEngine } from '../../dist/engine/index.js'
import { tokensOf } from './cases.mjs'

/** @type {{ of: import('./cases.mjs').Case, kind: 'native' | 'wasm', threads: number, folder: string, cacheFolder: string }} */
const { of, kind, threads, folder, cacheFolder } = JSON.parse(process.argv[2] ?? '')
const { signal } = new AbortController()
const model = 'm'
const began = performance.now()
const { openCpuEngine } = await loadCpuEngine()
const engine = await openCpuEngine({ resolve: async () => ({ folder }), kind, threads, cacheFolder })
const opened = performance.now()
const { rank } = of
const adapter = { seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: false }
const lora = rank === undefined && of.kind !== 'load' ? {} : { lora: { ...adapter, rank: rank ?? 16 } }
await engine.run({ op: 'create', model, baseModel: 'bench', ...lora }, signal)
tell({ openMs: opened - began, loadMs: performance.now() - opened, id: engine.id })

const { inputs, targets } = tokensOf(of)
const weight = 1 / (of.batch * of.length)
const data = targets.map((row, i) => ({
  tokens: Int32Array.from(inputs[i] ?? []),
  lossInputs: {
    target_tokens: { data: Int32Array.from(row), shape: [row.length] },
    weights: { data: new Float32Array(row.length).fill(weight), shape: [row.length] },
  },
}))
const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8 }

/** @type {Record<string, (question: any) => Promise<object>>} */
const answers = {
  async train() {
    const start = performance.now()
    const result = await engine.run({ op: 'forward_backward', model, data, loss: { name: 'cross_entropy' } }, signal)
    const half = performance.now()
    await engine.run({ op: 'optim_step', model, adam }, signal)
    const end = performance.now()
    const loss = 'fwdBwd' in result ? result.fwdBwd.metrics['loss:sum'] : Number.NaN
    return { ms: end - start, adamMs: end - half, loss }
  },
  async sample({ seed }) {
    const prompt = Int32Array.from(inputs[0] ?? [])
    const request = { prompt, numSamples: of.batch, maxTokens: of.length, temperature: 1, seed }
    const start = performance.now()
    const result = await engine.run({ op: 'sample', model, request }, signal)
    const ms = performance.now() - start
    const samples = 'samples' in result ? result.samples : []
    const drawn = samples.map(({ tokens, logprobs }) => ({ tokens: [...tokens], logprobs: [...logprobs] }))
    return { ms, samples: drawn }
  },
  /** Writes the adapter for others. */
  async adapter({ to }) {
    const result = await engine.run({ op: 'export', model }, signal)
    if ('bytes' in result) await exportAdapter(result.bytes, to)
    return {}
  },
  async memory() {
    return { peakMb: peakMb() }
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line)
  const answer = answers[question.do]
  if (answer === undefined) throw new Error(`what is ${line}?`)
  tell(await answer(question))
}
await engine[Symbol.asyncDispose]()

/** @param {object} answer */
function tell(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

// Linux counts it per program; what others tell includes the process that started this one.
function peakMb() {
  try {
    const [, kb] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kb !== undefined) return Number(kb) / 1024
  } catch {}
  return process.resourceUsage().maxRSS / 1024
}
