import { describe, expect, it } from 'vitest'
import { openPlainChat } from '../../src/backends/models/mock-models.ts'
import type { ChatMessage, OpenRenderer, Sample, SampleReq, Tokenizer } from '../../src/contracts/index.ts'
import { createTokenPolicy } from '../../src/rollout/policy/token-policy.ts'

const { signal } = new AbortController()
const end = 256
const draw = { maxTokens: 8, temperature: 1, seed: 1 }

// Tokens 128 and up decode to the same letters as those below: text does not tell which were drawn.
const ambiguous: Tokenizer = {
  vocabSize: 264,
  encode: (text) => Int32Array.from(text, (char) => char.charCodeAt(0)),
  decode: (tokens) => String.fromCharCode(...Array.from(tokens, (token) => token % 128)),
}

function policyOf(answers: readonly (readonly number[])[], renderer: OpenRenderer, maxContext?: number) {
  const asked: Omit<SampleReq, 'model'>[] = []
  const policy = createTokenPolicy({
    renderer,
    version: () => asked.length,
    ...(maxContext === undefined ? {} : { maxContext }),
    async sample(request): Promise<Sample[]> {
      const tokens = Int32Array.from(answers[asked.length] ?? [])
      asked.push(request)
      const stopReason = tokens.at(-1) === end ? 'stop' : 'length'
      return [{ tokens, logprobs: new Float64Array(tokens.length).fill(-1), stopReason }]
    },
  })
  return { policy, asked }
}

const user = (content: string): ChatMessage => ({ role: 'user', content })
const text = (value: string) => Array.from(value, (char) => char.charCodeAt(0))

describe('a policy in tokens', () => {
  it('keeps what was drawn in every later prompt, though its text would be other tokens (AGT-3)', async () => {
    const drawn = [104 + 128, 105 + 128, end] // reads "hi"
    const { policy, asked } = policyOf([drawn, drawn], openPlainChat(ambiguous))
    const messages = [user('a')]
    const first = await policy.generate({ messages, ...draw }, signal)
    expect(first.text).toBe('hi')
    expect([...(first.tokens?.completion ?? [])]).toEqual(drawn)
    messages.push({ role: 'assistant', content: first.text }, user('b'))
    const second = await policy.generate({ messages, ...draw }, signal)
    const before = [...(asked[0]?.prompt ?? []), ...drawn]
    expect([...(asked[1]?.prompt ?? [])]).toEqual([...before, 258, ...text('b'), end, 259])
    expect(second.tokens?.policyVersion).toBe(1)
    expect(first.tokens?.policyVersion).toBe(0)
    expect(second.tokens?.logprobs).toHaveLength(drawn.length)
  })

  it('an answer that was cut off by its length gets the end of the template, which nobody drew (AGT-3)', async () => {
    const { policy, asked } = policyOf([[104 + 128], [end]], openPlainChat(ambiguous))
    const messages = [user('a')]
    const first = await policy.generate({ messages, ...draw }, signal)
    expect(first).toMatchObject({ stopReason: 'length', text: 'h' })
    expect([...(first.tokens?.completion ?? [])]).toEqual([104 + 128])
    messages.push({ role: 'assistant', content: 'h' }, user('b'))
    await policy.generate({ messages, ...draw }, signal)
    const before = [...(asked[0]?.prompt ?? []), 104 + 128, end]
    expect([...(asked[1]?.prompt ?? [])]).toEqual([...before, 258, ...text('b'), end, 259])
  })

  it('a conversation that was rewritten begins anew, and branches know their own beginning (AGT-3)', async () => {
    const hi = [104 + 128, end]
    const { policy, asked } = policyOf([hi, hi, hi], openPlainChat(ambiguous))
    await policy.generate({ messages: [user('a')], ...draw }, signal)
    const rewritten = [user('A'), { role: 'assistant' as const, content: 'h' }, user('b')]
    await policy.generate({ messages: rewritten, ...draw }, signal)
    expect([...(asked[1]?.prompt ?? [])]).not.toContain(104 + 128)
    const branch = [user('a'), { role: 'assistant' as const, content: 'h' }, user('c')]
    await policy.generate({ messages: branch, ...draw }, signal)
    expect([...(asked[2]?.prompt ?? [])]).toContain(104 + 128)
  })

  it('a template that cannot be split begins a new sequence (AGT-3)', async () => {
    const hi = [104 + 128, end]
    const plain = openPlainChat(ambiguous)
    const whole: OpenRenderer = {
      ...plain,
      conversation: () => {
        throw new Error('it cannot be split')
      },
    }
    const { policy, asked } = policyOf([hi, hi], whole)
    const messages = [user('a'), { role: 'assistant' as const, content: 'h' }, user('b')]
    await policy.generate({ messages: messages.slice(0, 1), ...draw }, signal)
    await policy.generate({ messages, ...draw }, signal)
    expect(asked[1]?.prompt).toEqual(plain.prompt(messages))
  })

  it('says when the context is full, and draws no more than fits (AGT-3)', async () => {
    const { policy, asked } = policyOf([[104]], openPlainChat(ambiguous), 8)
    await policy.generate({ messages: [user('ab')], ...draw }, signal)
    expect(asked[0]).toMatchObject({ maxTokens: 3 }) // role, two letters, end, role: 5 of 8
    await expect(policy.generate({ messages: [user('abcdefgh')], ...draw }, signal)).rejects.toThrow('context')
  })

  it('a renderer that cannot declare tools says so before anybody asks (AGT-3)', async () => {
    const { policy } = policyOf([[end]], openPlainChat(ambiguous))
    expect(policy.takesTools).toBe(false)
    const tools = [{ name: 'f', parameters: {} }]
    await expect(policy.generate({ messages: [user('a')], tools, ...draw }, signal)).rejects.toThrow(
      'cannot declare tools',
    )
  })

  it('text after a stop of the caller is cut off, and is no part of what follows (AGT-3)', async () => {
    const { policy, asked } = policyOf([[...text('a;b'), end], [end]], openPlainChat(ambiguous))
    const first = await policy.generate({ messages: [user('q')], stop: [';'], ...draw }, signal)
    expect(first).toMatchObject({ text: 'a', stopReason: 'stop' })
    const messages = [user('q'), { role: 'assistant' as const, content: 'a' }, user('r')]
    await policy.generate({ messages, ...draw }, signal)
    expect([...(asked[1]?.prompt ?? [])]).not.toContain(text(';')[0])
  })
})
