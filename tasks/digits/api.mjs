// The API of the task `digits`: images of 28 x 28 and their labels, as many of them as an experiment may see.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolder, isDryRun, keyedRandom, phase, secondsLeft } from './evsys-task.mjs'

export * from './evsys-task.mjs'

/** Pixels of an image. */
export const pixels = 784
export const classes = 10
/** Images that one experiment may train on, counted as often as they are seen: five times the training part. */
export const imagesAllowed = isDryRun ? 512 : 27_000

/** Images of the training split that `evaluate` keeps for itself. */
const heldOut = 600
const split = phase === 'train' ? read() : undefined
let seen = 0 // by all loaders together

/**
 * Batches in random order until the images or the seconds are used up. A second loader goes on with what is left.
 * @param {{ batchSize: number }} options
 * @returns {Generator<{ images: Float32Array, labels: Uint8Array, progress: number }>} `images` has a row for each image, from 0 to 1;
 *   `progress` goes from 0 to 1
 */
export function* getTrainLoader({ batchSize }) {
  if (split === undefined) throw new Error('there is no training data while answering')
  const { images, labels } = split
  const random = keyedRandom('order')
  const order = Uint32Array.from({ length: labels.length - heldOut }, (_, i) => i)
  let at = order.length
  while (seen + batchSize <= imagesAllowed && secondsLeft() > 0) {
    const batch = { images: new Float32Array(batchSize * pixels), labels: new Uint8Array(batchSize) }
    for (let row = 0; row < batchSize; row++) {
      if (at >= order.length) {
        random.shuffle(order)
        at = 0
      }
      const index = order[at++]
      for (let i = 0; i < pixels; i++) batch.images[row * pixels + i] = images[index * pixels + i] / 255
      batch.labels[row] = labels[index]
    }
    seen += batchSize
    yield { ...batch, progress: (seen - batchSize) / imagesAllowed }
  }
}

/**
 * Share of wrong answers on a part of the training data that the loader never gives: for decisions of the candidate.
 * @param {(images: Float32Array, count: number) => ArrayLike<number>} predict
 */
export function evaluate(predict) {
  if (split === undefined) throw new Error('there is no training data while answering')
  const { images, labels } = split
  const from = labels.length - heldOut
  const found = predict(
    Float32Array.from(images.subarray(from * pixels), (value) => value / 255),
    heldOut,
  )
  let wrong = 0
  for (let i = 0; i < heldOut; i++) if (found[i] !== labels[from + i]) wrong++
  return wrong / heldOut
}

/**
 * Images of a question of the scorer.
 * @param {{ images: string, count: number }} question
 */
export function imagesOf(question) {
  return Float32Array.from(Buffer.from(question.images, 'base64'), (value) => value / 255)
}

function read() {
  return {
    images: readFileSync(join(dataFolder, 'images.bin')),
    labels: readFileSync(join(dataFolder, 'labels.bin')),
  }
}
