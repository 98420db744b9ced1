import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { withPlace } from '../rows/raw-row.ts'
import { fewShot, jsonlToChat, mapTemplate, systemPrompt } from './chat-rows.ts'

describe('jsonl_to_chat', () => {
  it('makes the conversation of the templates (PLG-2)', async () => {
    const params = {
      system_prompt: 'Use {tools}.',
      user_template: 'Query: {query}',
      assistant_template: '<answer>{tool}</answer>',
    }
    expect(await apply(jsonlToChat, params, [{ query: 'hi', tool: 'greet' }])).toEqual([
      {
        query: 'hi',
        tool: 'greet',
        messages: [
          { role: 'system', content: 'Use {tools}.' },
          { role: 'user', content: 'Query: hi' },
          { role: 'assistant', content: '<answer>greet</answer>' },
        ],
      },
    ])
  })

  it('points at the row that lacks a field (PLG-2)', async () => {
    const rows = [withPlace({ query: 'a' }, 't.jsonl:1'), withPlace({ qery: 'b' }, 't.jsonl:2')]
    await expect(apply(jsonlToChat, { user_template: '{query}' }, rows)).rejects.toMatchObject({
      code: 'DATA_INVALID',
      where: { file: 't.jsonl', line: 2, col: 1 },
      fix: 'did you mean "qery"? Known: qery.',
    })
  })
})

describe('map_template', () => {
  it('fills every template from the row as it came (PLG-2)', async () => {
    const rows = await apply(mapTemplate, { fields: { a: '{b}', b: '{a}', sum: '{a}+{b}' } }, [{ a: 1, b: 2 }])
    expect(rows).toEqual([{ a: 2, b: 1, sum: '1+2' }])
  })
})

describe('system_prompt', () => {
  const user = { role: 'user', content: 'hi' }
  const system = (content: string) => ({ role: 'system', content })

  it('adds, replaces or keeps the system message (PLG-1)', async () => {
    const rows = [{ messages: [user] }, { messages: [system('old'), user] }]
    expect(await apply(systemPrompt, { text: 'new' }, rows)).toEqual([
      { messages: [system('new'), user] },
      { messages: [system('new'), user] },
    ])
    expect(await apply(systemPrompt, { text: 'new', existing: 'keep' }, rows)).toEqual([
      { messages: [system('new'), user] },
      { messages: [system('old'), user] },
    ])
  })

  it.each([
    [{ text: 'x' }, /has no messages \(it has text\)/],
    [{ messages: 'x' }, /messages is text, not a list/],
  ])('names a row that is no chat: %j (PLG-2)', async (bad, message) => {
    await expect(apply(systemPrompt, { text: 's' }, [bad])).rejects.toThrow(message)
  })
})

describe('few_shot', () => {
  const examples = [
    { user: 'one', assistant: '1' },
    { user: 'two', assistant: '2' },
    { user: 'three', assistant: '3' },
  ]
  const row = {
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'q' },
    ],
  }

  it('puts examples behind the system message and before the conversation (PLG-602)', async () => {
    const [shown] = await apply(fewShot, { examples: examples.slice(0, 1) }, [row])
    expect(shown?.messages).toEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '1' },
      { role: 'user', content: 'q' },
    ])
  })

  it('draws n of them for each row, in their order, by the seed (PLG-602)', async () => {
    const rows = Array.from({ length: 30 }, () => row)
    const drawn = await apply(fewShot, { examples, n: 2 }, rows, 4)
    const asked = drawn.map(({ messages }) =>
      (messages as { content: string }[]).slice(1, 5).map(({ content }) => content),
    )
    expect(new Set(asked.map(String)).size).toBe(3)
    expect(
      asked.every(
        ([a, , b]) => examples.findIndex(({ user }) => user === a) < examples.findIndex(({ user }) => user === b),
      ),
    ).toBe(true)
    expect(await apply(fewShot, { examples, n: 2 }, rows, 4)).toEqual(drawn)
    expect((await apply(fewShot, { examples, n: 9 }, [row]))[0]?.messages).toHaveLength(8)
  })
})
