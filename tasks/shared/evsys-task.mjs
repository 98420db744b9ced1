// What every candidate in Node is given: seed, time, data, checkpoint, answers. It lies read-only beside the candidate; what a
// candidate says through it is recorded as claimed and never counts.
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const env = { ...process.env }
const started = performance.now()
const now = performance.now.bind(performance)

/** `train`: learn from the training split and save a checkpoint. `answer`: load it and answer. */
export const phase = env.EVSYS_PHASE === 'answer' ? 'answer' : 'train'
/** Root of everything that is drawn at random. */
export const seed = Number(env.EVSYS_SEED || env.AUTORESEARCH_SEED || 0)
/** Whether this is a dry run of a step or two. */
export const isDryRun = env.EVSYS_DRY === '1'
/** Folder of the training split. */
export const dataFolder = env.EVSYS_DATA ?? 'data'

const trainSeconds = Number(env.EVSYS_TRAIN_SECONDS ?? 30)
const outFolder = env.EVSYS_OUT ?? 'out'
const nonce = env.EVSYS_NONCE ?? ''

if (phase === 'train') say({ nonce, begun: true })

/** What there is to compute on. */
export function getDevice() {
  return 'cpu'
}

/** Seconds since the candidate began. */
export function elapsed() {
  return (now() - started) / 1000
}

/** Seconds that are left for training. A candidate that trains on is stopped. */
export function secondsLeft() {
  return trainSeconds - elapsed()
}

/** Share of the training time that has passed, from 0 to 1: for schedules. */
export function progress() {
  return Math.min(1, elapsed() / trainSeconds)
}

/**
 * A generator of its own for a purpose: equal paths give equal draws, whatever else is drawn.
 * @param {...(string | number)} path
 */
export function keyedRandom(...path) {
  const next = sfc32(hash128(JSON.stringify([seed, ...path])))
  let spare = Number.NaN
  return {
    /** In [0, 1). */
    float: next,
    /** @param {number} below */
    int: (below) => Math.floor(next() * below),
    /** From the standard normal distribution. */
    normal() {
      if (!Number.isNaN(spare)) {
        const kept = spare
        spare = Number.NaN
        return kept
      }
      const radius = Math.sqrt(-2 * Math.log(1 - next()))
      const angle = 2 * Math.PI * next()
      spare = radius * Math.sin(angle)
      return radius * Math.cos(angle)
    },
    /**
     * In place.
     * @template {{ length: number, [index: number]: any }} T
     * @param {T} items
     */
    shuffle(items) {
      for (let i = items.length - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1))
        const kept = items[i]
        items[i] = items[j]
        items[j] = kept
      }
      return items
    },
  }
}

Math.random = keyedRandom('Math.random').float

/**
 * A point of the training curve, for early stopping of runs that lead nowhere.
 * @param {number} value the training metric, smaller or larger as the score is
 */
export function reportCurve(value) {
  if (phase === 'train' && Number.isFinite(value)) say({ nonce, curve: { seconds: elapsed(), value } })
}

/**
 * What the candidate thinks of itself. It is shown, and never counts.
 * @param {Readonly<Record<string, number>>} metrics
 */
export function reportResults(metrics) {
  if (phase === 'train') say({ nonce, claimed: metrics })
}

/**
 * Keeps bytes, text or a JSON value for the answers.
 * @param {unknown} value
 * @param {string} [name]
 */
export function saveCheckpoint(value, name = 'checkpoint') {
  const bytes = value instanceof Uint8Array || typeof value === 'string' ? value : JSON.stringify(value)
  writeFileSync(join(outFolder, name), bytes)
}

/** @param {string} [name] */
export function loadCheckpoint(name = 'checkpoint') {
  return readFileSync(join(outFolder, name))
}

/**
 * Answers the scorer, question by question. Does nothing while training.
 * @param {(question: any) => unknown} answer
 */
export async function onAnswer(answer) {
  if (phase !== 'answer') return
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const { id, question } = JSON.parse(line)
    say({ id, answer: await answer(question) })
  }
}

/** The embedded engine: language models over bytes that train on the kernels of evsys. */
export async function openEngine() {
  if (env.EVSYS_ENGINE_MODULE === undefined) throw new Error('this task has no engine: see `engine` in task.yaml')
  return await import(`file://${env.EVSYS_ENGINE_MODULE}`)
}

// Whole lines, at once: whatever ends this process next, they are out. Blocks while a reader is slow.
function say(message) {
  const bytes = Buffer.from(`\n@evsys ${JSON.stringify(message)}\n`)
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent)
    } catch (error) {
      if (error?.code !== 'EAGAIN') throw error
    }
  }
}

// 128 bits of a text: four multiplicative hashes that are mixed at the end (cyrb128, public domain).
function hash128(text) {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a]
}

// Small fast counting generator: 128 bits of state, passes PractRand.
function sfc32([a, b, c, d]) {
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 4294967296
  }
  for (let i = 0; i < 15; i++) next()
  return next
}
