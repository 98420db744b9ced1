import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPlugin } from 'evsys/testing'
import { focalLoss, focalSft } from '../src/plugins/focal-sft.ts'

test('the gradient is the slope of the loss', () => {
  const loss = (logprob: number) => {
    const weights = { data: Float64Array.of(1), shape: [1] }
    const datum = { tokens: Int32Array.of(1, 2), lossInputs: { weights } }
    return focalLoss([datum], [{ data: Float64Array.of(logprob), shape: [1] }], 2)
  }
  const h = 1e-5
  const slope = (loss(-1 + h).loss - loss(-1 - h).loss) / (2 * h)
  assert.ok(Math.abs(slope - (loss(-1).gradients[0]?.data[0] ?? 0)) < 1e-6)
})

test('a model trains on it', async () => {
  const { steps } = await runPlugin(focalSft, { steps: 3, params: { gamma: 2, learning_rate: 0.1 } })
  const [first, , last] = steps.map((metrics) => metrics['loss:sum'] ?? 0)
  assert.ok((last ?? 0) < (first ?? 0))
})
