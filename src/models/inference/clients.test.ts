import { describe, expect, it } from 'vitest'
import { clientServices } from '../../../tests/client-services.ts'
import {
  defaultReply,
  type Loose,
  type Misbehaviour,
  type Reply,
  startFakeProvider,
} from '../../../tests/fake-provider.ts'
import type { ChatMessage, GenerateRequest, PluginSpec } from '../../contracts/index.ts'
import { openInferenceClient } from './open-inference-client.ts'

const key = 'sk-test-0123456789abcdef'
const kinds = ['anthropic', 'openai', 'openai_compatible', 'gemini'] as const
type ApiKind = (typeof kinds)[number]

const models: Record<ApiKind, string> = {
  anthropic: 'claude-sonnet-4-6',
  openai: 'gpt-4.1',
  openai_compatible: 'my-model',
  gemini: 'gemini-2.5-flash',
}

const hello: GenerateRequest = { messages: [{ role: 'user', content: 'ping' }], maxTokens: 64, temperature: 0, seed: 7 }

async function openAt(
  kind: ApiKind,
  options: { reply?: Reply | undefined; params?: Record<string, unknown> | undefined } = {},
) {
  const provider = await startFakeProvider(options.reply)
  const services = clientServices({ API_KEY: key })
  const spec: PluginSpec = {
    kind,
    params: {
      model: models[kind],
      base_url: provider.url,
      api_key: '${secret:API_KEY}',
      retry_wait_s: 0,
      ...options.params,
    },
  }
  const client = await openInferenceClient(spec, services)
  const { signal } = new AbortController()
  return {
    provider,
    services,
    client,
    ask: (request: Partial<GenerateRequest> = {}) => client.generate({ ...hello, ...request }, signal),
  }
}

// Asks for a retry at once, so that no test waits.
const soon = { 'retry-after-ms': '0' }

const tools = [
  { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
]
const conversation: ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'add' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { type: 'function', id: 'c1', function: { name: 'add', arguments: '{"a": 1}' } },
      { type: 'function', function: { name: 'add', arguments: { a: 2 } } },
    ],
  },
  { role: 'tool', content: '1', tool_call_id: 'c1' },
  { role: 'tool', content: '2' },
  { role: 'user', content: 'and now?' },
]

describe.each(kinds)('%s', (kind) => {
  it('answers with text, usage and cost, and sends the key where it belongs (INF-1)', async () => {
    const { provider, ask } = await openAt(kind)
    const answer = await ask()
    expect(answer).toMatchObject({
      text: 'pong',
      stopReason: 'stop',
      usage: { promptTokens: 1000, completionTokens: 100 },
    })
    expect(answer.usage.latencyS).toBeGreaterThanOrEqual(0)
    const cost = { anthropic: 0.0045, openai: 0.0028, openai_compatible: undefined, gemini: 0.00055 }[kind]
    if (cost === undefined) expect(answer.usage).not.toHaveProperty('costUsd')
    else expect(answer.usage.costUsd).toBeCloseTo(cost, 12)
    const headers = provider.heard[0]?.headers ?? {}
    const sent =
      headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.toString().replace('Bearer ', '')
    expect(sent).toBe(key)
  })

  it('writes a whole conversation in the form of its API (INF-2)', async () => {
    const { provider, ask } = await openAt(kind, { params: { system_prompt: 'Always.' } })
    await ask({ messages: conversation, tools, stop: ['END'], topP: 0.5 })
    const { path, body } = provider.heard[0] ?? {}
    await expect(`${JSON.stringify({ path, body }, null, 2)}\n`).toMatchFileSnapshot(`./golden/${kind}.json`)
  })

  it.each<[string, Misbehaviour[]]>([
    ['429', [{ status: 429, headers: soon }]],
    [
      '529',
      [
        {
          status: 529,
          headers: soon,
          body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        },
      ],
    ],
    [
      '500 and 503',
      [
        { status: 500, headers: soon },
        { status: 503, headers: soon },
      ],
    ],
  ])('tries again after %s, as long as it is asked to wait (INF-3)', async (_name, faults) => {
    const { provider, services, ask } = await openAt(kind)
    provider.misbehave(...faults)
    expect(await ask()).toMatchObject({ text: 'pong' })
    expect(provider.heard).toHaveLength(faults.length + 1)
    expect(services.logged.filter((line) => line.includes('attempt'))).toHaveLength(faults.length)
  })

  it.each<Misbehaviour>(['truncated', 'malformed', 'reset'])(
    'tries again after an answer that is %s (INF-3)',
    async (fault) => {
      const { provider, ask } = await openAt(kind)
      provider.misbehave(fault)
      expect(await ask()).toMatchObject({ text: 'pong' })
      expect(provider.heard).toHaveLength(2)
    },
  )

  it('gives up on an answer that takes too long, and tells so (INF-3)', async () => {
    const { provider, ask } = await openAt(kind, { params: { timeout_s: 0.5, max_attempts: 2 } })
    provider.misbehave('slow', 'slow')
    await expect(ask()).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
      message: expect.stringContaining('within 0.5 s'),
    })
    expect(provider.heard).toHaveLength(2)
  })

  it.each([400, 401, 403, 404])('does not repeat what is refused with %i (INF-4)', async (status) => {
    const { provider, ask } = await openAt(kind)
    provider.misbehave({ status, body: `{"error":{"message":"no: ${key}"}}` })
    const error = await ask().catch((cause: unknown) => cause)
    expect(error).toMatchObject({
      code: 'INFERENCE_REFUSED',
      fix: expect.any(String),
      message: expect.stringContaining(`${status} no`),
    })
    expect(JSON.stringify(error, ['message', 'fix', 'problems', 'code'])).not.toContain(key)
    expect(provider.heard).toHaveLength(1)
  })

  it('tells of the last failure when all attempts are used up (INF-3)', async () => {
    const { provider, ask } = await openAt(kind, { params: { max_attempts: 2 } })
    provider.misbehave(
      { status: 503, headers: soon, body: '{"error":{"message":"down"}}' },
      { status: 503, headers: soon },
    )
    await expect(ask()).rejects.toMatchObject({ code: 'INFERENCE_FAILED', message: expect.stringContaining('503') })
    expect(provider.heard).toHaveLength(2)
  })

  it('takes no answer of another form for one (INF-4)', async () => {
    const { provider, ask } = await openAt(kind, { reply: () => ({ hello: 'world' }) })
    await expect(ask()).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
      message: expect.stringContaining('not of the expected form'),
      fix: expect.stringContaining('base_url'),
    })
    expect(provider.heard).toHaveLength(1)
  })

  it('stops at once when it is no longer wanted (INF-3)', async () => {
    const { provider, client } = await openAt(kind)
    provider.misbehave('slow')
    const stop = new AbortController()
    const asking = client.generate(hello, stop.signal)
    await expect.poll(() => provider.heard.length).toBe(1)
    stop.abort(new Error('enough'))
    await expect(asking).rejects.toThrow('enough')
    expect(provider.heard).toHaveLength(1)
  })
})

describe('what providers answer', () => {
  const reply =
    (change: (whole: Loose) => void): Reply =>
    (heard) => {
      const whole = structuredClone(defaultReply(heard))
      change(whole)
      return whole
    }

  it.each<[ApiKind, string, (whole: Loose) => void, unknown]>([
    [
      'anthropic',
      'a call',
      (w) => {
        w.content = [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: 't', name: 'add', input: { a: 1 } },
        ]
        w.stop_reason = 'tool_use'
      },
      {
        text: '',
        reasoning: 'hm',
        stopReason: 'tool_calls',
        toolCalls: [{ id: 't', function: { name: 'add', arguments: { a: 1 } } }],
      },
    ],
    [
      'anthropic',
      'a cut',
      (w) => {
        w.stop_reason = 'max_tokens'
      },
      { stopReason: 'length' },
    ],
    [
      'anthropic',
      'a refusal',
      (w) => {
        w.stop_reason = 'refusal'
        w.content = []
      },
      { text: '', stopReason: 'refused' },
    ],
    [
      'openai',
      'a call',
      (w) => {
        w.choices[0] = {
          message: {
            content: null,
            tool_calls: [{ id: 't', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
          },
          finish_reason: 'tool_calls',
        }
      },
      { text: '', stopReason: 'tool_calls', toolCalls: [{ id: 't', function: { name: 'add', arguments: '{"a":1}' } }] },
    ],
    [
      'openai',
      'a cut',
      (w) => {
        w.choices[0].finish_reason = 'length'
      },
      { stopReason: 'length' },
    ],
    [
      'openai',
      'a refusal',
      (w) => {
        w.choices[0].message = { content: null, refusal: 'no' }
      },
      { text: 'no', stopReason: 'refused' },
    ],
    [
      'openai_compatible',
      'reasoning',
      (w) => {
        w.choices[0].message.reasoning_content = 'hm'
      },
      { text: 'pong', reasoning: 'hm' },
    ],
    [
      'gemini',
      'a call',
      (w) => {
        w.candidates[0].content.parts = [
          { text: 'hm', thought: true },
          { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'x' },
        ]
      },
      {
        reasoning: 'hm',
        stopReason: 'tool_calls',
        toolCalls: [
          { function: { name: 'add', arguments: { a: 1 } }, extra_content: { google: { thought_signature: 'x' } } },
        ],
      },
    ],
    [
      'gemini',
      'a cut',
      (w) => {
        w.candidates[0] = { finishReason: 'MAX_TOKENS' }
      },
      { text: '', stopReason: 'length' },
    ],
    [
      'gemini',
      'a blocked prompt',
      (w) => {
        delete w.candidates
        w.promptFeedback = { blockReason: 'SAFETY' }
      },
      { text: '', stopReason: 'refused' },
    ],
  ])('%s: reads %s (INF-5)', async (kind, _name, change, expected) => {
    const { ask } = await openAt(kind, { reply: reply(change) })
    expect(await ask()).toMatchObject(expected as object)
  })

  it('counts what came out of a cache and what went into one (INF-6)', async () => {
    const cached = reply((whole) => {
      whole.usage = {
        input_tokens: 100,
        output_tokens: 10,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 200,
      }
    })
    const { usage, price } = await (await openAt('anthropic', { reply: cached })).ask()
    expect(usage).toMatchObject({ promptTokens: 1300, cachedPromptTokens: 1000, completionTokens: 10 })
    expect(usage.costUsd).toBeCloseTo((100 * 3 + 1000 * 0.3 + 200 * 3.75 + 10 * 15) / 1e6, 15)
    expect(price).toEqual({ input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 })
  })

  it('an error inside of a success is one (INF-4)', async () => {
    const { provider, ask } = await openAt('openai_compatible', { params: { max_attempts: 1 } })
    provider.misbehave({ status: 200, body: '{"error":{"code":402,"message":"no credit"}}' })
    await expect(ask()).rejects.toMatchObject({ code: 'INFERENCE_REFUSED', fix: expect.stringContaining('credit') })
  })

  it('a spent quota is final, though it answers 429 (INF-4)', async () => {
    const { provider, ask } = await openAt('openai')
    provider.misbehave({
      status: 429,
      body: '{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}',
    })
    await expect(ask()).rejects.toMatchObject({ code: 'INFERENCE_REFUSED' })
    expect(provider.heard).toHaveLength(1)
  })

  it('no redirect takes the key elsewhere (INF-4)', async () => {
    const { provider, ask } = await openAt('openai', { params: { max_attempts: 1 } })
    provider.misbehave({ status: 307, headers: { location: `${provider.url}/elsewhere` } })
    await expect(ask()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' })
    expect(provider.heard).toHaveLength(1)
  })
})

describe('requests', () => {
  it('leave out what a model does not take, and say so once (INF-2)', async () => {
    const { provider, services, ask } = await openAt('openai', { params: { model: 'o4-mini' } })
    await ask()
    await ask()
    expect(provider.heard[0]?.body).not.toHaveProperty('temperature')
    expect(services.logged.filter((line) => line.includes('takes no temperature'))).toHaveLength(1)
    const other = await openAt('anthropic', {
      params: { omit: ['temperature'], extra_body: { thinking: { type: 'enabled' } } },
    })
    await other.ask()
    expect(other.provider.heard[0]?.body).toMatchObject({ thinking: { type: 'enabled' } })
    expect(other.provider.heard[0]?.body).not.toHaveProperty('temperature')
  })

  it.each([
    ['claude-opus-4-6', true],
    ['claude-opus-4-20250514', true],
    ['claude-3-5-haiku-latest', true],
    ['claude-opus-4-7', false],
    ['claude-opus-5', false],
    ['claude-sonnet-5-5', false],
    ['claude-fable-5-1', false],
  ])('to %s say how an answer is drawn: %s (INF-2)', async (model, isSaid) => {
    const { provider, ask } = await openAt('anthropic', { params: { model } })
    await ask()
    expect('temperature' in (provider.heard[0]?.body ?? {})).toBe(isSaid)
  })

  it('tell once that a price is not known, and take one that is given (INF-6)', async () => {
    const { services, ask } = await openAt('openai_compatible')
    await ask()
    await ask()
    expect(services.logged.filter((line) => line.includes('no price is known'))).toHaveLength(1)
    const priced = await openAt('openai_compatible', { params: { price: { input: 1, output: 2 } } })
    expect((await priced.ask()).usage.costUsd).toBeCloseTo(0.0012, 12)
  })

  it.each<[ApiKind, ChatMessage[], string]>([
    [
      'anthropic',
      [
        { role: 'user', content: 'a' },
        { role: 'system', content: 'b' },
      ],
      'system message',
    ],
    [
      'gemini',
      [
        { role: 'user', content: 'a' },
        { role: 'system', content: 'b' },
      ],
      'system message',
    ],
    [
      'openai',
      [
        { role: 'user', content: 'a' },
        { role: 'tool', content: 'b' },
      ],
      'no call is open',
    ],
    ['openai', [{ role: 'user', content: [{ type: 'image' }] }], 'no address'],
    [
      'gemini',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ type: 'function', function: { name: 'f', arguments: '[1' } }],
        },
      ],
      'no JSON object',
    ],
  ])('%s: refuse what cannot be said (INF-2)', async (kind, messages, message) => {
    const { provider, ask } = await openAt(kind)
    await expect(ask({ messages })).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringContaining(message),
    })
    expect(provider.heard).toEqual([])
  })
})
