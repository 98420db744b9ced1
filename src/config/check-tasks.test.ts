import { describe, expect, it } from 'vitest'
import { base, benchmark, deepChecks, task } from '../../tests/deep-check.ts'
import { faultLine } from '../../tests/load-text.ts'

const { files, deep, faults } = deepChecks()

describe('rows', () => {
  it.each([
    ['is not JSON', '\n{"a": \n', 'data/train.jsonl:2:1 DATA_INVALID the line is not valid JSON'],
    ['is no object', '[1]\n', 'data/train.jsonl:1:1 DATA_INVALID the row is no JSON object'],
    ['is not there', '\n\n', 'data/train.jsonl:1:1 DATA_INVALID the file holds no rows'],
  ])('the first that %s is located (CFG-14)', async (_what, text, fault) => {
    await files({ 'data/train.jsonl': text })
    expect(await faults(base)).toEqual([fault])
  })

  it('of a json source are a list (CFG-14)', async () => {
    await files({ 'a.json': ' \n [{"messages": []}]', 'b.json': '{"messages": []}\n' })
    const text = (file: string) => base.replace('{ path: data/train.jsonl }', `{ source_kind: json, path: ${file} }`)
    expect(await faults(text('a.json'))).toEqual([])
    expect(await faults(text('b.json'))).toEqual(['b.json:1:1 DATA_INVALID the file does not start with a list'])
  })

  it('of another shape than the algorithm takes are refused (CFG-14)', async () => {
    const text = base.replace('train.jsonl', 'val/tasks.jsonl')
    const { problems } = await deep(text)
    expect(problems.map(faultLine)).toEqual([
      '2:7 DATA_INVALID data: sft takes chat_messages rows, and these are harbor_task',
    ])
    expect(problems[0]?.fix).toContain('jsonl_to_chat')
    expect(
      await faults(
        text.replace(
          'jsonl }',
          'jsonl, transforms: [{ kind: dedupe }, { kind: jsonl_to_chat, params: { user_template: x } }] }',
        ),
      ),
    ).toEqual([])
    expect(await faults(text.replace('kind: sft', 'kind: rl'))).toEqual([])
  })

  it('behind a transform that may do anything are not judged (CFG-14)', async () => {
    expect(await faults(base.replace('train.jsonl }', 'val/tasks.jsonl, transforms: [{ kind: mystery }] }'))).toEqual(
      [],
    )
  })

  it('of no known shape are noted (CFG-14)', async () => {
    const { problems, notices } = await deep(
      base.replace('{ path: data/train.jsonl }', '{ source_kind: in_memory, rows: [{ q: 1 }] }'),
    )
    expect(problems).toEqual([])
    expect(notices.map(({ text }) => text)).toEqual([
      'The rows have no known shape, and sft takes chat_messages rows: a transform can make them.',
    ])
  })
})

describe('tasks', () => {
  it.each([
    [
      'a line that is not JSON',
      `${task({})}\nnope\n`,
      ['data/val/tasks.jsonl:2:1 DATA_INVALID the line is not valid JSON'],
    ],
    [
      'a line that is no task',
      '{"task_id": "a", "verifier": {"kind": "in_process"}}\n',
      [
        'data/val/tasks.jsonl:1:1 DATA_INVALID instruction: is missing: expected text',
        'data/val/tasks.jsonl:1:1 DATA_INVALID verifier.fn_name: is missing: expected text',
        'data/val/tasks.jsonl:1:1 DATA_INVALID verifier.expected: is missing: expected a value',
      ],
    ],
    [
      'an id that stands twice',
      `${task({})}\n\n${task({})}\n`,
      ['data/val/tasks.jsonl:3:1 DATA_INVALID the task id "t" stands in line 1 too'],
    ],
    [
      'an unknown verifier',
      `${task({ task_id: 'a' })}\n${task({ verifier: { kind: 'in_process', fn_name: 'exact', expected: 1 } })}\n`,
      ['data/val/tasks.jsonl:2:1 PLUGIN_UNKNOWN verifier.fn_name: no verifier is called "exact"'],
    ],
    [
      'wrong params of a verifier',
      task({ verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 1, params: { case: 1 } } }),
      ['data/val/tasks.jsonl:1:1 PLUGIN_PARAMS verifier.params: unknown key "case"'],
    ],
    ['no tasks', '\n', ['data/val/tasks.jsonl:1:1 DATA_INVALID the file holds no task']],
  ])('%s is located (CFG-14)', async (_what, text, found) => {
    await files({ 'data/val/tasks.jsonl': text })
    expect(await faults(benchmark('{ path: data/val }'))).toEqual(found)
  })

  it('judged by a model need no verifier function; by a container of a service, that service (CFG-14, EVL-5)', async () => {
    const ran = { kind: 'in_process', fn_name: 'runs_code', expected: 'assert True' }
    const tasks = [
      { task_id: 'a', verifier: { kind: 'llm_judge', judge_model: 'm', rubric: 'r' } },
      { task_id: 'b', verifier: { kind: 'e2b', dockerfile: 'FROM x', test_sh: 'true' } },
      { task_id: 'c', verifier: ran },
    ]
    await files({ 'data/val/tasks.jsonl': tasks.map((each) => `${task(each)}\n`).join('') })
    expect(await faults(benchmark('{ path: data/val }'))).toEqual([
      'data/val/tasks.jsonl:2:1 SANDBOX_MISSING verifier.kind: tasks of kind "e2b" run in a service that evsys does not use',
    ])
  })

  it('that are all wrong are told up to a limit (CFG-14)', async () => {
    await files({ 'data/val/tasks.jsonl': 'x\n'.repeat(1_000) })
    expect((await faults(benchmark('{ path: data/val }'))).length).toBe(20)
  })

  it('in a long line are read across chunks (CFG-14)', async () => {
    await files({
      'data/val/tasks.jsonl': `\uFEFF${task({ task_id: 'a', instruction: 'é'.repeat(400_000) })}\r\n${task({ task_id: 'b' })}`,
    })
    expect(await faults(benchmark('{ path: data/val }'))).toEqual([])
  })
})
