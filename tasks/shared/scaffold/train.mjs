// A polynomial, fitted by stochastic gradient descent. This file is what a search changes.
import { evaluate, getTrainLoader, loadCheckpoint, onAnswer, phase, reportResults, saveCheckpoint } from './api.mjs'

const LEARNING_RATE = 0.02
const DEGREE = 3
const DECAY = 0.0001

const predict = (weights, x) => weights.reduce((sum, weight, power) => sum + weight * x ** power, 0)

if (phase === 'train') {
  const weights = new Array(DEGREE + 1).fill(0)
  for (const batch of getTrainLoader({ batchSize: 8 })) {
    for (const { x, y } of batch) {
      const off = predict(weights, x) - y
      for (let power = 0; power <= DEGREE; power++)
        weights[power] -= (LEARNING_RATE / batch.length) * (off * x ** power + DECAY * weights[power])
    }
  }
  reportResults({ squared_error: evaluate((x) => predict(weights, x)) })
  saveCheckpoint(weights)
} else {
  const weights = JSON.parse(loadCheckpoint().toString())
  await onAnswer((xs) => xs.map((x) => predict(weights, x)))
}
