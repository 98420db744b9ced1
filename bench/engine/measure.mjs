// One case on one number of threads. All contenders are alive at once and take turns, so that a slow moment of the machine hits all
// of them. What they compute is compared: a fast wrong result counts for nothing.

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { tokensOf } from './cases.mjs'
import { Contender } from './contender.mjs'

const [ours, peer] = ['ours.mjs', 'peer.py'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
const warmRounds = 2
/** The other threads of a contender look for work a while after each turn. */
const restMs = 20
/** Losses differ by rounding, and by what Adam makes of it: it divides each gradient by its own size. */
const lossTolerance = 2e-3
const logprobTolerance = 1e-3

/**
 * @typedef {import('./cases.mjs').Case} Case
 * @typedef {{ name: string, times: number[], best: number, median: number, peakMb: number, details: any }} Measured details: the
 * process's first answer
 * @typedef {{ threads: number, rounds?: number | undefined, folder: string, cacheFolder: string, kinds: string[],
 *   python?: string | undefined }} Options
 * @param {Case} of
 * @param {Options} options
 * @returns {Promise<Measured[]>}
 */
export async function measure(of, options) {
  if (of.kind === 'load') return measureLoad(of, options)
  const adapter = join(options.folder, `adapter-${of.name}`)
  /** @type {Map<string, { contender: Contender, details: any, times: number[], answers: any[] }>} */
  const all = new Map()
  try {
    for (const name of [...options.kinds, ...peersOf(of, options)]) {
      const contender = open(name, of, { ...options, adapter: of.rank === undefined ? undefined : adapter })
      all.set(name, { contender, details: await contender.hear(), times: [], answers: [] })
      if (of.rank !== undefined && all.size === 1) await contender.ask({ do: 'adapter', to: `${adapter}` })
    }
    const rounds = options.rounds ?? of.rounds
    for (let round = 0; round < warmRounds + rounds; round++) {
      for (const { contender, times, answers } of all.values()) {
        const answer = await contender.ask({ do: of.kind, seed: round })
        answers.push(answer)
        if (round >= warmRounds) times.push(answer.ms)
        await setTimeout(restMs)
      }
    }
    const measured = []
    for (const [name, { contender, times, details }] of all) {
      const { peakMb } = await contender.ask({ do: 'memory' })
      measured.push({ ...summary(name, times), peakMb, details })
    }
    await compare(of, all)
    return measured
  } finally {
    for (const { contender } of all.values()) await contender.close()
  }
}

/** Whole processes, one after the other: what it takes until a model is there. @param {Case} of @param {Options} options */
async function measureLoad(of, options) {
  /** @type {Map<string, { times: number[], peakMb: number, details: any }>} */
  const all = new Map()
  for (let round = 0; round < (options.rounds ?? of.rounds); round++) {
    for (const name of [...options.kinds, ...peersOf(of, options)]) {
      const contender = open(name, of, options)
      const details = await contender.hear()
      const ms = performance.now() - contender.began
      const { peakMb } = await contender.ask({ do: 'memory' })
      await contender.close()
      const known = all.get(name)
      all.set(name, { times: [...(known?.times ?? []), ms], peakMb, details })
      if (known !== undefined && known.details.loadMs < details.loadMs) details.loadMs = known.details.loadMs
    }
  }
  return [...all].map(([name, { times, ...rest }]) => ({ ...summary(name, times), ...rest }))
}

/** @param {Case} of @param {Options} options */
function peersOf({ kind, rank }, { python }) {
  if (python === undefined) return []
  return rank !== undefined || kind === 'load' ? ['transformers'] : ['transformers', 'eager']
}

/** @param {string} name @param {Case} of @param {Options & { adapter?: string | undefined }} options */
function open(name, of, { threads, folder, cacheFolder, kinds, python = '', adapter }) {
  const common = { of, kind: name, threads, folder: join(folder, of.model) }
  // Nothing of what the machine's user has set may change the contest.
  const { EVSYS_ENGINE: _, ...env } = process.env
  if (kinds.includes(name)) {
    return new Contender(process.execPath, [ours ?? '', JSON.stringify({ ...common, cacheFolder })], env)
  }
  const { inputs, targets } = tokensOf(of)
  return new Contender(python, [peer ?? '', JSON.stringify({ ...common, adapter, inputs, targets })], {
    ...env,
    OMP_NUM_THREADS: String(threads),
    HF_HUB_OFFLINE: '1',
    TOKENIZERS_PARALLELISM: 'false',
  })
}

/** @param {string} name @param {number[]} times */
function summary(name, times) {
  const sorted = [...times].sort((a, b) => a - b)
  return { name, times, best: sorted[0] ?? Number.NaN, median: sorted[sorted.length >> 1] ?? Number.NaN }
}

/** @param {Case} of @param {Map<string, { contender: Contender, answers: any[] }>} all */
async function compare(of, all) {
  const [first, ...others] = [...all]
  if (first === undefined) return
  if (of.kind === 'train') {
    for (const [name, { answers }] of others) {
      const worst = Math.max(
        ...answers.map(({ loss }, i) => Math.abs(loss / (first[1].answers[i]?.loss ?? Number.NaN) - 1)),
      )
      if (!(worst < lossTolerance)) throw new Error(`${of.name}: losses of ${first[0]} and ${name} differ by ${worst}`)
    }
    return
  }
  const judge = [...all.values()].at(-1)?.contender
  for (const [name, { answers }] of all) {
    const { samples } = answers.at(-1)
    if (samples === undefined || !all.has('eager')) continue
    const tokens = samples.map((/** @type {any} */ sample) => sample.tokens)
    const { logprobs } = await /** @type {Contender} */ (judge).ask({ do: 'score', tokens })
    const worst = Math.max(
      ...samples.flatMap((/** @type {any} */ sample, /** @type {number} */ i) =>
        sample.logprobs.map((/** @type {number} */ own, /** @type {number} */ t) => Math.abs(own - logprobs[i][t])),
      ),
    )
    if (!(worst < logprobTolerance)) throw new Error(`${of.name}: log-probabilities of ${name} are wrong by ${worst}`)
  }
}
