import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPlugin } from 'evsys/testing'
import { withCalculator } from '../src/plugins/with-calculator.ts'

test('a line that calls the calculator gets a result, any other answer ends the attempt', async () => {
  const answers = ['CALC 312 - 58', 'CALC what', '254']
  assert.deepEqual(await runPlugin(withCalculator, { answers }), { output: '254', turns: 3 })
  assert.deepEqual(await runPlugin(withCalculator, { answers: ['254'] }), { output: '254', turns: 1 })
})
