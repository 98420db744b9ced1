// What candidates import, beside what `evsys-task.mjs` gives to all: the training data and a look at a part of it that was held out.
// No candidate can change this file, and none can read anything but the training split.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolder, isDryRun, keyedRandom, phase, secondsLeft } from './evsys-task.mjs'

export * from './evsys-task.mjs'

/** Steps that one experiment may take: equal for all, on fast and slow machines. */
const stepsAllowed = isDryRun ? 2 : 2000
const heldOut = 40
const points = phase === 'train' ? JSON.parse(readFileSync(join(dataFolder, 'points.json'), 'utf8')) : []

/**
 * Batches of points in random order until steps or seconds are used up.
 * @param {{ batchSize: number }} options
 */
export function* getTrainLoader({ batchSize }) {
  const random = keyedRandom('batches')
  const known = points.length - heldOut
  for (let step = 0; step < stepsAllowed && secondsLeft() > 0; step++)
    yield Array.from({ length: batchSize }, () => points[random.int(known)])
}

/**
 * Mean squared error on points that the loader never gives: for decisions of the candidate.
 * @param {(x: number) => number} predict
 */
export function evaluate(predict) {
  const part = points.slice(-heldOut)
  return part.reduce((sum, { x, y }) => sum + (predict(x) - y) ** 2, 0) / part.length
}
