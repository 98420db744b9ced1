import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import type { ChatMessage } from '../../contracts/index.ts'
import { byteTokenizer, plainChat, specialTokens } from '../models/mock-models.ts'

const renderer = await plainChat.open({ ...pluginContext(plainChat), tokenizer: byteTokenizer })

const content = fc.string({ unit: fc.constantFrom('a', 'é', '<', '|', '>', '<|end|>', '<|assistant|>', '\n') })
const message: fc.Arbitrary<ChatMessage> = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
  content,
})
const messages = fc.array(message, { minLength: 1, maxLength: 5 })

describe('plain_chat', () => {
  it('reads like this (PLG-15)', () => {
    const chat: ChatMessage[] = [
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'he' },
          { type: 'text', text: 'llo' },
        ],
      },
      { role: 'assistant', content: 'hi' },
    ]
    const { tokens, message: owner, produced } = renderer.conversation(chat)
    expect(byteTokenizer.decode(tokens)).toBe('<|system|>be brief<|end|><|user|>hello<|end|><|assistant|>hi<|end|>')
    expect(byteTokenizer.decode(tokens.filter((_, at) => produced[at] === 1))).toBe('hi<|end|>')
    expect(byteTokenizer.decode(tokens.filter((_, at) => owner[at] === 1))).toBe('hello<|end|>')
    expect(byteTokenizer.decode(tokens.filter((_, at) => owner[at] === -1))).toBe('<|system|><|user|><|assistant|>')
  })

  it('marks every token of every assistant message and its end, and no other (PLG-15)', () => {
    fc.assert(
      fc.property(messages, (chat) => {
        const { tokens, message: owner, produced } = renderer.conversation(chat)
        for (const [index, { role, content: text }] of chat.entries()) {
          const own = tokens.filter((_, at) => owner[at] === index)
          expect(own).toEqual(Int32Array.from([...byteTokenizer.encode(String(text)), specialTokens['<|end|>']]))
          const marks = produced.filter((_, at) => owner[at] === index)
          expect(marks.every((mark) => mark === (role === 'assistant' ? 1 : 0))).toBe(true)
        }
        expect(produced.filter((_, at) => owner[at] === -1).every((mark) => mark === 0)).toBe(true)
      }),
    )
  })

  it('has as many role and end tokens as messages, whatever they say (PLG-15)', () => {
    fc.assert(
      fc.property(messages, (chat) => {
        const { tokens } = renderer.conversation(chat)
        expect(tokens.filter((token) => token === specialTokens['<|end|>'])).toHaveLength(chat.length)
        expect(tokens.filter((token) => token > specialTokens['<|end|>'])).toHaveLength(chat.length)
      }),
    )
  })

  it('prompts with a prefix of the conversation that the answer completes (PLG-15)', () => {
    fc.assert(
      fc.property(messages, content, (chat, answer) => {
        const prompt = renderer.prompt(chat)
        const whole = renderer.conversation([...chat, { role: 'assistant', content: answer }]).tokens
        const completion = whole.subarray(prompt.length)
        expect(whole.subarray(0, prompt.length)).toEqual(prompt)
        expect(renderer.stop).toContain(completion.at(-1))
        expect(renderer.parse(completion)).toEqual({ message: { role: 'assistant', content: answer }, complete: true })
      }),
    )
  })

  it('reads reasoning and tool calls back (PLG-15)', () => {
    const calls = [
      { type: 'function' as const, function: { name: 'search', arguments: { q: 'x</tool_call>' } } },
      { type: 'function' as const, function: { name: 'open', arguments: '{"raw": 1}' } },
    ]
    const answers: ChatMessage[] = [
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'assistant', content: 'look:', reasoning_content: 'why', tool_calls: calls.slice(1) },
      { role: 'assistant', content: '<tool_call>no json</tool_call>' },
      { role: 'assistant', content: '<tool_call>{"name":""}</tool_call>' },
    ]
    for (const answer of answers) {
      const { tokens } = renderer.conversation([answer])
      expect(renderer.parse(tokens.subarray(1))).toEqual({ message: answer, complete: true })
    }
  })

  it('says when an answer did not end, and never fails on what a model wrote (PLG-15)', () => {
    expect(renderer.parse(byteTokenizer.encode('half'))).toEqual({
      message: { role: 'assistant', content: 'half' },
      complete: false,
    })
    fc.assert(
      fc.property(fc.array(fc.nat(byteTokenizer.vocabSize - 1)), (tokens) => {
        expect(renderer.parse(Int32Array.from(tokens)).message.role).toBe('assistant')
      }),
    )
  })

  it('refuses images and models of other tokens (PLG-15)', async () => {
    expect(() => renderer.conversation([{ role: 'user', content: [{ type: 'image' }] }])).toThrow(
      expect.objectContaining({ code: 'DATA_INVALID' }),
    )
    const other = { ...byteTokenizer, vocabSize: 50_000 }
    await expect(plainChat.open({ ...pluginContext(plainChat), tokenizer: other })).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
    })
  })
})
