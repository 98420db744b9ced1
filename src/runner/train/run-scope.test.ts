import { describe, expect, it } from 'vitest'
import type { EvalMark, Item } from '../../contracts/index.ts'
import { manualClock } from '../../kernel/index.ts'
import { createRunReporter } from './run-scope.ts'

describe('what a run reports', () => {
  it('is numbered from where earlier attempts left off, items and events apart (LAB-54)', async () => {
    const written: [number, Item | EvalMark][] = []
    const { report } = createRunReporter({
      runId: 'run_1',
      nextItem: 7,
      nextEvent: 5,
      clock: manualClock(),
      write: async (number, item) => void written.push([number, item]),
    })
    await Promise.all([report({ type: 'notice', text: 'a' }), report({ type: 'notice', text: 'b' })])
    expect(written).toEqual([
      [7, { type: 'notice', text: 'a', seq: 5, at: '1970-01-01T00:00:00.000Z', run_id: 'run_1' }],
      [8, { type: 'notice', text: 'b', seq: 6, at: '1970-01-01T00:00:00.000Z', run_id: 'run_1' }],
    ])
  })
})
