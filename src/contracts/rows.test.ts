import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import {
  ChatMessage,
  ChatMessagesRow,
  detectFormat,
  HarborTask,
  PreferencePair,
  PromptExample,
  type Row,
  type RowFormat,
  VerifierPayload,
} from './rows.ts'

const task = { task_id: 't', instruction: 'do', verifier: { kind: 'in_process', fn_name: 'exact', expected: 'x' } }
const example = { inputs: { question: 'q' }, expected: 'x' }
const chat = { messages: [{ role: 'user', content: 'hi' }] }
const pair = { ...chat, chosen: 'yes', rejected: 'no' }

describe('detectFormat', () => {
  it.each<[string, Row, RowFormat | undefined]>([
    ['a task', task, 'harbor_task'],
    ['an example', example, 'prompt_dataset'],
    ['a chat', chat, 'chat_messages'],
    ['a pair, before a chat', pair, 'preference_pair'],
    ['an example before a pair', { ...pair, ...example }, 'prompt_dataset'],
    ['a task before everything else', { ...pair, ...example, ...task }, 'harbor_task'],
    ['an example before a chat', { ...chat, ...example }, 'prompt_dataset'],
    ['a chat, where a task lacks its verifier', { ...chat, task_id: 't' }, 'chat_messages'],
    ['an example, where a task lacks its id', { ...example, verifier: {} }, 'prompt_dataset'],
    ['a chat, where an example lacks its answer', { ...chat, inputs: {} }, 'chat_messages'],
    ['a key whatever it holds', { inputs: undefined, expected: null }, 'prompt_dataset'],
    ['nothing in an empty row', {}, undefined],
    ['nothing in a raw row', { query: 'q', tool_slug: 't' }, undefined],
  ])('finds %s (CON-6)', (_case, row, format) => {
    expect(detectFormat(row)).toBe(format)
  })

  it.each([
    ['harbor_task', HarborTask],
    ['prompt_dataset', PromptExample],
  ] as const)('finds %s in whatever its schema accepts (CON-6)', (format, schema) => {
    fc.assert(
      fc.property(arbitraryOf<typeof HarborTask | typeof PromptExample>(schema), (row) => {
        expect(detectFormat(schema.parse(row))).toBe(format)
      }),
    )
  })
})

describe.each([
  ['a chat', ChatMessagesRow, chat],
  ['a task', HarborTask, task],
  ['an example', PromptExample, example],
  ['a pair', PreferencePair, pair],
])('%s', (_row, schema, valid) => {
  it('has empty metadata unless it brings some (CON-6)', () => {
    expect(schema.parse(valid)).toMatchObject({ metadata: {} })
    expect(schema.parse({ ...valid, metadata: { source: 'a' } })).toMatchObject({ metadata: { source: 'a' } })
  })

  it('loses columns that are not its own (CON-6)', () => {
    expect(schema.parse({ ...valid, query: 'q' })).toStrictEqual(schema.parse(valid))
  })

  it('needs every field of its own (CON-6)', () => {
    for (const key of Object.keys(valid)) {
      const rest = Object.fromEntries(Object.entries(valid).filter(([each]) => each !== key))
      expect(schema.safeParse(rest).success, `without ${key}`).toBe(false)
    }
  })

  it('refuses metadata that is no mapping (CON-6)', () => {
    for (const metadata of ['x', [1], null]) expect(schema.safeParse({ ...valid, metadata }).success).toBe(false)
  })
})

describe('a chat message', () => {
  const call = { function: { name: 'search', arguments: '{"q":1}' } }

  it.each([
    { role: 'system', content: '' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'a.png' } },
      ],
    },
    { role: 'assistant', content: 'yes', reasoning_content: 'because' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'assistant', tool_calls: [{ ...call, id: '1', type: 'function' }] },
    { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: { q: 1 } } }] },
    { role: 'tool', content: '3', tool_call_id: '1', name: 'search' },
  ])('may be %j (CON-6)', (message) => {
    expect(ChatMessage.parse(message)).toMatchObject(message)
  })

  it.each([
    { role: 'robot', content: 'x' },
    { role: 'user' },
    { role: 'user', content: null },
    { role: 'tool', content: null, tool_calls: [call] },
    { role: 'assistant', content: null },
    { role: 'assistant', content: null, tool_calls: [] },
    { role: 'assistant', content: 'x', tool_calls: [{ function: { name: '', arguments: '' } }] },
    { role: 'user', content: [{ type: 'audio' }] },
    { role: 'user', content: 'x', weight: 1 },
    { role: 'user', content: 7 },
    { content: 'x' },
  ])('may not be %j (CON-6)', (message) => {
    expect(ChatMessage.safeParse(message).success).toBe(false)
  })

  it('is one of at least one (CON-6)', () => {
    expect(ChatMessagesRow.safeParse({ messages: [] }).success).toBe(false)
  })
})

describe('a verifier', () => {
  it.each([
    { kind: 'in_process', fn_name: 'exact_match', expected: { any: ['thing'] } },
    { kind: 'in_process', fn_name: 'exact_match', expected: null, params: { strip: true } },
    { kind: 'e2b', dockerfile: 'FROM a', test_sh: 'true', test_state_py: '' },
    { kind: 'llm_judge', judge_model: 'm', rubric: 'r' },
  ])('may be %j (CON-6)', (verifier) => {
    expect(VerifierPayload.parse(verifier)).toMatchObject(verifier)
  })

  it.each([
    { kind: 'in_process', fn_name: 'exact_match' },
    { kind: 'in_process', fn_name: '', expected: 1 },
    { kind: 'in_process', fn_name: 'f', expected: 1, reward: 1 },
    { kind: 'e2b', dockerfile: 'FROM a' },
    { kind: 'llm_judge', judge_model: 'm', rubric: '' },
    { kind: 'human' },
    { fn_name: 'f', expected: 1 },
  ])('may not be %j (CON-6)', (verifier) => {
    expect(VerifierPayload.safeParse(verifier).success).toBe(false)
  })
})
