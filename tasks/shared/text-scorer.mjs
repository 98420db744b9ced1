// Bits per byte of a text that a model has not seen. Every scored byte is predicted from the bytes before it: from 64 of them at the
// start of a stream, from 127 at its end. A model of the embedded engine is run by the scorer itself. Any other candidate is asked step
// by step, for all streams at once: a byte is shown only after its prediction is in, so no answer can know it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shuffled } from './shuffled.mjs'

/** Texts that are predicted side by side, from places all over the split. */
const streams = 64
/** Bytes that are given before the first prediction. */
const given = 64
/** Bytes that are predicted in each stream. */
const steps = 64
const bytes = 256

/** What a candidate left or answered is not what was asked for. */
class CandidateError extends Error {
  name = 'CandidateError'
}

/** @param {string} metric */
export function textScorer(metric) {
  return {
    version: 1,
    metric,
    async score({ dataDir, ask, checkpoint, engine }) {
      const windows = windowsOf(readFileSync(join(dataDir, 'text.bin')))
      const model = engine === undefined ? undefined : await checkpoint('model.evsys').catch(() => undefined)
      const nats = model === undefined ? await askInAnyOrder(windows, ask) : await runModel(windows, model, engine)
      const items = nats.map((each) => each / Math.LN2 / steps)
      return { value: items.reduce((sum, each) => sum + each, 0) / streams, secondary: {}, items }
    },
  }
}

function windowsOf(text) {
  const length = given + steps
  if (text.length < streams * length)
    throw new Error(`a split has ${text.length} bytes, and ${streams * length} are needed`)
  const stride = Math.floor((text.length - length) / (streams - 1))
  return Array.from({ length: streams }, (_, i) => text.subarray(i * stride, i * stride + length))
}

async function runModel(windows, checkpoint, engine) {
  const { loadLanguageModel } = await engine()
  const model = await loadLanguageModel(checkpoint).catch((error) => {
    throw new CandidateError(`model.evsys cannot be run: ${error instanceof Error ? error.message : error}`)
  })
  try {
    const { each } = await model.measure(windows, { from: given })
    return each
  } finally {
    await model[Symbol.asyncDispose]()
  }
}

// Nats of each window, in the order of the split.
async function askInAnyOrder(windows, ask) {
  const order = Array.from(shuffled(windows.length))
  const asked = await askStepByStep(
    order.map((at) => windows[at]),
    ask,
  )
  const nats = new Array(windows.length).fill(0)
  for (const [i, at] of order.entries()) nats[at] = asked[i]
  return nats
}

async function askStepByStep(windows, ask) {
  const nats = new Array(windows.length).fill(0)
  for (let step = 0; step < steps; step++) {
    const contexts = windows.map((window) => window.subarray(0, given + step).toString('base64'))
    const logits = floatsOf(await ask({ contexts }))
    for (let i = 0; i < streams; i++)
      nats[i] += surprise(logits.subarray(i * bytes, (i + 1) * bytes), windows[i][given + step])
  }
  return nats
}

function floatsOf(answer) {
  const raw = typeof answer === 'string' ? Buffer.from(answer, 'base64') : Buffer.alloc(0)
  if (raw.length !== 4 * streams * bytes)
    throw new CandidateError(
      `an answer is base64 of ${streams} x ${bytes} float32 logits, in the order of the contexts`,
    )
  return new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length))
}

// Normalised here: whatever a candidate answers is a distribution. The difference comes first: a sum with a huge logit would lose the rest.
function surprise(logits, target) {
  const top = logits.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY)
  let total = 0
  for (const logit of logits) total += Math.exp(logit - top)
  return Math.log(total) - (logits[target] - top)
}
