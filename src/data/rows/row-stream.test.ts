import { describe, expect, it } from 'vitest'
import { collect, streamOf } from '../../../tests/collect.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import type { Row, RowFormat, Transform } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { jsonlToChat } from '../transforms/chat-rows.ts'
import { dedupe } from '../transforms/dedupe.ts'
import { placeOf, withPlace } from './raw-row.ts'
import { parseRows, rowStream } from './row-stream.ts'

const source = () => streamOf(['a', 'b', 'a'].map((query, i) => ({ row: { query }, place: `t.jsonl:${i + 1}` })))
const step = (transform: Transform, params: object = {}) => ({ transform, context: pluginContext(transform, params) })

describe('rowStream', () => {
  it('runs transforms in order and keeps places through those that know nothing of them (PLG-1)', async () => {
    const mine = defineTransform({
      kind: 'mine',
      summary: 'A user’s transform.',
      async *run(rows) {
        for await (const row of rows) yield { ...row, extra: 1 }
      },
    })
    const steps = [step(dedupe, { key: 'query' }), step(mine), step(jsonlToChat, { user_template: '{query}{extra}' })]
    const rows = await collect(rowStream(source(), steps))
    expect(rows.map((row) => [row.messages, placeOf(row)])).toEqual([
      [[{ role: 'user', content: 'a1' }], 't.jsonl:1'],
      [[{ role: 'user', content: 'b1' }], 't.jsonl:2'],
    ])
    expect(JSON.stringify(rows[0])).not.toContain('t.jsonl')
  })

  it('puts the name of a transform on what it throws, and leaves our errors as they are (PLG-1)', async () => {
    const broken = defineTransform({
      kind: 'broken',
      summary: 'Throws.',
      async *run(rows) {
        for await (const row of rows) yield row.missing as Row
      },
    })
    await expect(collect(rowStream(source(), [step(broken)]))).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'transform "broken": it yielded nothing instead of a row',
    })
    const wrong = [step(jsonlToChat, { user_template: '{nothing}' }), step(dedupe)]
    await expect(collect(rowStream(source(), wrong))).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })

  it('closes the source when the reader stops early (PLG-1)', async () => {
    let isClosed = false
    async function* open() {
      try {
        for (let i = 0; ; i++) yield { row: { query: `${i}` }, place: `x:${i}` }
      } finally {
        isClosed = true
      }
    }
    for await (const _ of rowStream(open(), [step(dedupe), step(jsonlToChat, { user_template: '{query}' })])) break
    expect(isClosed).toBe(true)
  })
})

const signal = new AbortController().signal
const parse = (rows: Row[], format: RowFormat) => collect(parseRows(streamOf(rows), format, { signal }))

const chat = { messages: [{ role: 'user', content: 'hi' }] }
const task = { task_id: 't', instruction: 'do', verifier: { kind: 'in_process', fn_name: 'contains', expected: 'x' } }
const example = { inputs: { question: 'q' }, expected: 'a' }

describe('parseRows', () => {
  it('gives typed rows, without the columns beside them (CON-6)', async () => {
    expect(await parse([{ ...chat, query: 'hi' }], 'chat_messages')).toEqual([{ ...chat, metadata: {} }])
    expect(await parse([task], 'harbor_task')).toEqual([
      { ...task, verifier: { ...task.verifier, params: {} }, metadata: {} },
    ])
    expect(await parse([{ ...example, metadata: { a: 1 } }], 'prompt_dataset')).toEqual([
      { ...example, metadata: { a: 1 } },
    ])
  })

  it('names place, keys and the transform that helps (CON-6)', async () => {
    await expect(parse([withPlace({ query: 'hi', tool: 'x' }, 'd.jsonl:4')], 'chat_messages')).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: 'd.jsonl:4: expected a chat_messages row, but it lacks messages (it has query, tool)',
      where: { file: 'd.jsonl', line: 4, col: 1 },
      fix: expect.stringContaining('jsonl_to_chat'),
    })
  })

  it('takes a row for what it is, a task before an example before a chat (CON-6)', async () => {
    await expect(parse([{ ...task, ...chat }], 'chat_messages')).rejects.toThrow(
      'row 1: expected a chat_messages row, but it is a harbor_task row',
    )
    await expect(parse([{ ...example, ...chat }], 'chat_messages')).rejects.toThrow('it is a prompt_dataset row')
    await expect(parse([{}], 'prompt_dataset')).rejects.toThrow('it lacks inputs and expected (it has no keys)')
  })

  it('tells all faults at once, equal ones with a count (CON-6)', async () => {
    const rows = [
      chat,
      { messages: [] },
      { messages: [{ role: 'robot', content: 'x' }] },
      { messages: [] },
      { messages: [{ role: 'user', content: 'x', typo: 1 }] },
      { messages: [] },
    ].map((row, index) => withPlace(row, `f:${index + 1}`))
    const error: unknown = await parse(rows, 'chat_messages').catch((cause) => cause)
    expect(Reflect.get(Object(error), 'problems')).toMatchObject([
      {
        message: 'f:2: not a valid chat_messages row: messages: must not be empty (it has messages) (and 2 other rows)',
        where: { line: 2 },
      },
      { message: expect.stringMatching(/^f:3: .*messages\.0\.role: expected one of "system".* got "robot"/) },
      { message: expect.stringMatching(/^f:5: .*messages\.0: unknown key "typo"/) },
    ])
  })

  it('yields no row after the first fault, and stops at the signal (CON-6, PLG-1)', async () => {
    const seen: unknown[] = []
    const reading = async () => {
      for await (const row of parseRows(streamOf([chat, {}, chat]), 'chat_messages', { signal })) seen.push(row)
    }
    await expect(reading()).rejects.toMatchObject({ code: 'DATA_INVALID' })
    expect(seen).toHaveLength(1)
    await expect(
      collect(parseRows(streamOf([chat]), 'chat_messages', { signal: AbortSignal.abort(new Error('stop')) })),
    ).rejects.toThrow('stop')
  })
})
