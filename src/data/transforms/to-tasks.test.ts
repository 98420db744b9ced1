import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { withPlace } from '../rows/raw-row.ts'
import { toHarborTask, toPromptExample } from './to-tasks.ts'

describe('to_harbor_task', () => {
  const params = { instruction_template: '{q}', verifier: 'exact_match', expected: '{a}' }

  it('makes a task with an id of its content, told apart where content repeats (CON-6)', async () => {
    const rows = [
      { q: 'x', a: 1 },
      { q: 'y', a: 1 },
      { q: 'x', a: 1 },
    ]
    const tasks = await apply(toHarborTask, params, rows)
    expect(tasks[0]).toMatchObject({
      instruction: 'x',
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 1, params: {} },
    })
    const ids = tasks.map(({ task_id }) => task_id)
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe(`${ids[0]}-2`)
    expect((await apply(toHarborTask, params, rows.slice(1))).map(({ task_id }) => task_id)).toEqual([ids[1], ids[0]])
  })

  it('refuses an id that was given before, naming both places (PLG-2)', async () => {
    const rows = [withPlace({ q: 'x', a: 1, id: 'i' }, 't:1'), withPlace({ q: 'y', a: 2, id: 'i' }, 't:2')]
    await expect(apply(toHarborTask, { ...params, task_id_template: '{id}' }, rows)).rejects.toThrow(
      't:2: to_harbor_task: the task id "i" was given before, to t:1',
    )
  })
})

describe('to_prompt_example', () => {
  it('names inputs, keeps types and metadata (CON-6)', async () => {
    const params = {
      inputs: { question: 'Q: {q}', options: '{options}' },
      expected: '{answer}',
      metadata_fields: ['level'],
    }
    const [made] = await apply(toPromptExample, params, [
      { q: 'why', options: ['a'], answer: 42, level: 3, metadata: { from: 'x' } },
    ])
    expect(made).toMatchObject({
      inputs: { question: 'Q: why', options: ['a'] },
      expected: 42,
      metadata: { from: 'x', level: 3 },
    })
  })
})
