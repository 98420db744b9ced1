import { describe, expect, it } from 'vitest'
import type { HarborTask } from '../../contracts/index.ts'
import { breakDown } from './score-predictions.ts'

const task = (metadata: Record<string, unknown>): HarborTask => ({
  task_id: 'x',
  instruction: '',
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: '', params: {} },
  metadata,
})

describe('a breakdown', () => {
  it('groups tasks by the values of a dotted path, the largest group first (LAB-16)', () => {
    const tasks = [task({ a: { b: 'x' } }), task({ a: { b: 'y' } }), task({ a: { b: 'y' } }), task({ a: {} }), task({})]
    expect(breakDown(tasks, ['a.b'])).toEqual([
      { label: 'a.b=y', members: [1, 2] },
      { label: 'a.b=__missing__', members: [3, 4] },
      { label: 'a.b=x', members: [0] },
    ])
  })

  it('knows own fields alone, and any value (LAB-16)', () => {
    const tasks = [task({ n: 1 }), task({ n: true }), task({ n: [1, { z: 1 }] }), task({ n: null })]
    const labels = breakDown(tasks, ['n', 'constructor.name', 'n.length']).map(({ label }) => label)
    expect(labels).toEqual([
      'n=1',
      'n=true',
      'n=[1,{"z":1}]',
      'n=__missing__',
      'constructor.name=__missing__',
      'n.length=__missing__',
      'n.length=2',
    ])
  })

  it('is bounded: a field with a value for every task is an id (LAB-16)', () => {
    const groups = breakDown(
      Array.from({ length: 5000 }, (_, i) => task({ id: i })),
      ['id'],
    )
    expect(groups).toHaveLength(101)
    expect(groups.at(-1)).toMatchObject({ label: 'id=__other__' })
    expect(groups.flatMap(({ members }) => members)).toHaveLength(5000)
  })
})
