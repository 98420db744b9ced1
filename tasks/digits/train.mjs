// A network with one hidden layer, trained by stochastic gradient descent with momentum.
import {
  classes,
  evaluate,
  getTrainLoader,
  imagesOf,
  keyedRandom,
  loadCheckpoint,
  onAnswer,
  phase,
  pixels,
  reportCurve,
  reportResults,
  saveCheckpoint,
} from './api.mjs'

const LEARNING_RATE = 0.02
const MOMENTUM = 0.5
const WEIGHT_DECAY = 0.0001
const HIDDEN_UNITS = 32
const BATCH_SIZE = 64
const INIT_SCALE = 1
const ACTIVATION = 'tanh'
const LABEL_SMOOTHING = 0
const FINAL_RATE = 1

if (phase === 'train') {
  const network = train()
  reportResults({ error_rate: evaluate((images, count) => predict(network, images, count)) })
  saveCheckpoint(Buffer.from(network.weights.buffer))
} else {
  const bytes = loadCheckpoint()
  const network = layout(new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)))
  await onAnswer((question) => Array.from(predict(network, imagesOf(question), question.count)))
}

function train() {
  const network = layout(new Float32Array(HIDDEN_UNITS * (pixels + 1) + classes * (HIDDEN_UNITS + 1)))
  const random = keyedRandom('weights')
  for (const [part, inputs] of [
    [network.first, pixels],
    [network.second, HIDDEN_UNITS],
  ]) {
    for (let i = 0; i < part.length; i++) part[i] = (INIT_SCALE / Math.sqrt(inputs)) * random.normal()
  }
  const velocity = layout(new Float32Array(network.weights.length))
  const gradient = layout(new Float32Array(network.weights.length))
  let step = 0
  let smoothed = Math.log(classes)
  for (const { images, labels, progress } of getTrainLoader({ batchSize: BATCH_SIZE })) {
    gradient.weights.fill(0)
    smoothed += 0.05 * (backward(network, gradient, images, labels) - smoothed)
    // The rate falls from LEARNING_RATE to FINAL_RATE of it, by equal factors.
    const rate = LEARNING_RATE * FINAL_RATE ** progress
    for (let i = 0; i < velocity.weights.length; i++) {
      const slope = gradient.weights[i] / BATCH_SIZE + WEIGHT_DECAY * network.weights[i]
      velocity.weights[i] = MOMENTUM * velocity.weights[i] - rate * slope
      network.weights[i] += velocity.weights[i]
    }
    if (++step % 20 === 0) reportCurve(smoothed)
  }
  return network
}

/** Weights as one block, with the parts of it. */
function layout(weights) {
  const hidden = (weights.length - classes) / (pixels + 1 + classes)
  let at = 0
  const part = (length) => {
    at += length
    return weights.subarray(at - length, at)
  }
  return {
    weights,
    hidden,
    first: part(hidden * pixels),
    firstBias: part(hidden),
    second: part(classes * hidden),
    secondBias: part(classes),
  }
}

function activate(x) {
  if (ACTIVATION === 'tanh') return Math.tanh(x)
  return x > 0 ? x : ACTIVATION === 'leaky_relu' ? 0.1 * x : 0
}

/** Slope of the activation, from its value. */
function slopeAt(y) {
  if (ACTIVATION === 'tanh') return 1 - y * y
  return y > 0 ? 1 : ACTIVATION === 'leaky_relu' ? 0.1 : 0
}

/** Activations of the hidden layer and probabilities of the classes for one image, given by the places of its ink. */
function forward({ hidden, first, firstBias, second, secondBias }, images, row, ink, h, p) {
  const marked = findInk(images, row, ink)
  h.set(firstBias)
  for (let n = 0; n < marked; n++) {
    const value = images[row * pixels + ink[n]]
    const base = ink[n] * hidden
    for (let j = 0; j < hidden; j++) h[j] += first[base + j] * value
  }
  for (let j = 0; j < hidden; j++) h[j] = activate(h[j])
  let top = Number.NEGATIVE_INFINITY
  for (let k = 0; k < classes; k++) {
    let sum = secondBias[k]
    for (let j = 0; j < hidden; j++) sum += second[k * hidden + j] * h[j]
    p[k] = sum
    if (sum > top) top = sum
  }
  let total = 0
  for (let k = 0; k < classes; k++) total += p[k] = Math.exp(p[k] - top)
  for (let k = 0; k < classes; k++) p[k] /= total
  return marked
}

// Four pixels in five are blank, and blank ones change nothing.
function findInk(images, row, ink) {
  let marked = 0
  for (let i = 0; i < pixels; i++) if (images[row * pixels + i] !== 0) ink[marked++] = i
  return marked
}

/** Adds the gradient of a batch; returns the mean cross-entropy. */
function backward(network, gradient, images, labels) {
  const { hidden, second } = network
  const ink = new Uint16Array(pixels)
  const h = new Float32Array(hidden)
  const p = new Float32Array(classes)
  const delta = new Float32Array(hidden)
  let loss = 0
  for (let row = 0; row < labels.length; row++) {
    const marked = forward(network, images, row, ink, h, p)
    loss -= Math.log(Math.max(p[labels[row]], 1e-12))
    delta.fill(0)
    for (let k = 0; k < classes; k++) {
      p[k] -= (1 - LABEL_SMOOTHING) * Number(k === labels[row]) + LABEL_SMOOTHING / classes
      gradient.secondBias[k] += p[k]
      for (let j = 0; j < hidden; j++) {
        gradient.second[k * hidden + j] += p[k] * h[j]
        delta[j] += p[k] * second[k * hidden + j]
      }
    }
    for (let j = 0; j < hidden; j++) {
      delta[j] *= slopeAt(h[j])
      gradient.firstBias[j] += delta[j]
    }
    for (let n = 0; n < marked; n++) {
      const value = images[row * pixels + ink[n]]
      const base = ink[n] * hidden
      for (let j = 0; j < hidden; j++) gradient.first[base + j] += delta[j] * value
    }
  }
  return loss / labels.length
}

function predict(network, images, count) {
  const ink = new Uint16Array(pixels)
  const h = new Float32Array(network.hidden)
  const p = new Float32Array(classes)
  const found = new Uint8Array(count)
  for (let row = 0; row < count; row++) {
    forward(network, images, row, ink, h, p)
    let best = 0
    for (let k = 1; k < classes; k++) if (p[k] > p[best]) best = k
    found[row] = best
  }
  return found
}
