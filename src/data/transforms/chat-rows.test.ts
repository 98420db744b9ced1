import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { withPlace } from '../rows/raw-row.ts'
import { jsonlToChat, mapTemplate, systemPrompt } from './chat-rows.ts'

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
