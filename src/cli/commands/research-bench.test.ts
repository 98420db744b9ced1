import { expect, it } from 'vitest'
import { plainColors } from '../output/colors.ts'
import { type BenchDocument, benchText } from './research-bench.ts'

const style = { width: Number.POSITIVE_INFINITY, colors: plainColors }
const nothing = { repeats: 2, budget: 2, seed: 1, results: [], comparisons: [], flat: [] }
const told = (document: Partial<BenchDocument>) => benchText({ ...nothing, ...document }, style).split('\n')

const adversary: BenchDocument['adversary'] = {
  level: 'bubblewrap',
  isolation: 'memory by cgroup v2, processes by cgroup v2',
  ...{ attacks: 4, blocked: 1, scored_truly: 1, got_through: 1, unclear: 1, turned_down_by_reading: 1 },
  ...{ honest: 2, honest_blocked: 1 },
  results: [
    { attack: 'forks', ended: 'blocked', class: 'timeout', turned_down_by_reading: true },
    { attack: 'lies', ended: 'scored truly', turned_down_by_reading: false },
    { attack: 'reads labels', ended: 'got through', turned_down_by_reading: false, why: 'it was scored 0' },
    { attack: 'waits', ended: 'unclear', class: 'infra', turned_down_by_reading: false, why: 'no\u001b[31m disk' },
  ],
  honest_faults: [{ candidate: 'adam', why: 'crash: no' }],
  skipped: [{ what: 'answers NaN', why: 'this machine has no python3' }],
}

it('names the isolation, and all that got through or was not run (RES-802)', () => {
  const lines = told({ adversary })
  expect(lines[0]).toBe('isolation: bubblewrap; memory by cgroup v2, processes by cgroup v2')
  expect(lines).toContain('attacks that got something           1 of 4')
  expect(lines.slice(-4)).toEqual([
    'got through: it reads labels: it was scored 0',
    'unclear: it waits: no␛[31m disk',
    'blocked: honest, adam: crash: no',
    'skipped: answers NaN: this machine has no python3',
  ])
  const [only] = told({ adversary: { ...adversary, level: null, isolation: 'no sandbox' } })
  expect(only).toBe('adversary: nothing was run, candidates cannot be shut in here: no sandbox')
})

it('tells what was disturbed, what was skipped and what differs (RES-803)', () => {
  const row = { does: '', sessions: 2, disturbed: 2, equal: 2, calls_sent_again: 1, faults: [] }
  const lines = told({
    chaos: [
      { ...row, disturbance: 'kill' },
      { ...row, disturbance: 'clock-jump', equal: 1, faults: ['holds another record'] },
      { ...row, disturbance: 'full-disk', sessions: 0, disturbed: 0, equal: 0, skipped: 'no unshare' },
    ],
  })
  expect(lines).toEqual([
    'disturbance  sessions  met  equal record  calls sent again',
    'kill         2         2    2 of 2        1',
    'clock-jump   2         2    1 of 2        1',
    'full-disk    skipped',
    'clock-jump: holds another record',
    'full-disk: skipped: no unshare',
  ])
})
