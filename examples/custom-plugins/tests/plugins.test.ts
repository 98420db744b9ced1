// The plugins of this example on fixtures, without the experiment around them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPlugin, trainPlugins } from 'evsys/testing'
import { dedupeByIntent } from '../src/plugins/dedupe-by-intent.ts'
import { focalSft } from '../src/plugins/focal-sft.ts'
import { intentScore, worstShare } from '../src/plugins/intent-score.ts'

test('dedupe_by_intent drops a question that differs in case and punctuation alone', async () => {
  const rows = [
    { query: 'Where is it?', intent: 'delivery' },
    { query: 'where is it', intent: 'delivery' },
    { query: 'Where is it?', intent: 'refund' },
  ]
  assert.deepEqual(await runPlugin(dedupeByIntent, { rows }), [rows[0], rows[2]])
  assert.deepEqual(await runPlugin(dedupeByIntent, { rows, params: { keep: 2 } }), rows)
})

test('intent_score gives part of the reward for the right group', async () => {
  const reward = async (output: string) =>
    (await runPlugin(intentScore, { output, expected: 'order.refund', params: { partial: 0.5 } })).reward
  assert.deepEqual(await Promise.all(['order.refund', 'order.track', 'account.close'].map(reward)), [1, 0.5, 0])
})

test('worst_share is the mean of the tasks that went worst', async () => {
  const rewards = [[1], [1], [0.5], [0]]
  assert.equal(await runPlugin(worstShare, { rewards, params: { share: 0.5 } }), 0.25)
})

test('focal_sft with a gamma of 0 is sft, and counts certain tokens less above it', async () => {
  const lossOf = (steps: readonly Readonly<Record<string, number>>[]) =>
    steps.map((metrics) => metrics['loss:sum'] ?? 0)
  const sft = lossOf((await trainPlugins([], { steps: 2 })).steps)
  const plain = lossOf((await runPlugin(focalSft, { steps: 2, params: { gamma: 0 } })).steps)
  const focal = lossOf((await runPlugin(focalSft, { steps: 2, params: { gamma: 2 } })).steps)
  for (const [step, loss] of sft.entries()) {
    assert.ok(Math.abs(loss - (plain[step] ?? 0)) < 1e-3 * loss)
    assert.ok((focal[step] ?? 0) < loss)
  }
})
