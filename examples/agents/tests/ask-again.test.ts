import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPlugin } from 'evsys/testing'
import { askAgain } from '../src/plugins/ask-again.ts'

const task = {
  task_id: 'even',
  instruction: 'Say an even digit.',
  verifier: { kind: 'in_process' as const, fn_name: 'numeric', expected: 4, params: {} },
  metadata: {},
}

test('asks until the tool accepts the answer', async () => {
  const { output, turns } = await runPlugin(askAgain, { task, answers: ['seven', '7', '4', 'never asked for'] })
  assert.equal(output, '4')
  assert.equal(turns, 3)
})

test('gives its last answer when the turns are used up', async () => {
  const { output, turns } = await runPlugin(askAgain, { task, answers: ['7', '5'], maxTurns: 2 })
  assert.equal(output, '5')
  assert.equal(turns, 2)
})
