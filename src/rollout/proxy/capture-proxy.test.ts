import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Generated, GenerateRequest, OpenInferenceClient } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { createCaptureProxy } from './capture-proxy.ts'
import type { ProxySessionOptions } from './proxy-session.ts'

type Script = (
  request: GenerateRequest,
  number: number,
  signal: AbortSignal,
) => Partial<Generated> | Promise<Partial<Generated>>

/** A policy that answers by a script, and what it was asked. */
function scripted(script: Script = () => ({ text: 'fine' })): OpenInferenceClient & { asked: GenerateRequest[] } {
  const asked: GenerateRequest[] = []
  return {
    asked,
    async generate(request, signal) {
      asked.push(request)
      return {
        text: '',
        stopReason: 'stop',
        usage: { promptTokens: 10, completionTokens: 3, latencyS: 0 },
        ...(await script(request, asked.length - 1, signal)),
      }
    },
  }
}

const call = { type: 'function' as const, function: { name: 'look', arguments: { at: 'door' } } }

function open(policy: OpenInferenceClient, options: Partial<ProxySessionOptions> = {}, proxy = createCaptureProxy()) {
  const trial = proxy.open({
    policy,
    model: 'policy',
    sampling: { maxTokens: 64, temperature: 1 },
    maxTurns: 20,
    seed: (conversation, repeat) => conversation.length + repeat,
    ...options,
  })
  const send = (
    route: string,
    body: unknown,
    headers: Record<string, string> = { authorization: `Bearer ${trial.key}` },
  ) =>
    proxy.fetch(
      new Request(`http://proxy${trial.path}${route}`, {
        method: 'POST',
        headers,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
  const get = (route: string) =>
    proxy.fetch(new Request(`http://proxy${trial.path}${route}`, { headers: { authorization: `Bearer ${trial.key}` } }))
  return { trial, send, get, proxy }
}

const Choice = z.looseObject({
  message: z.looseObject({ content: z.string().nullable(), tool_calls: z.array(z.unknown()).optional() }),
  finish_reason: z.string().nullable(),
  logprobs: z.looseObject({ content: z.array(z.looseObject({ logprob: z.number() })) }).nullable(),
})
const Body = z.looseObject({
  id: z.string().optional(),
  choices: z.tuple([Choice]).optional(),
  content: z.array(z.unknown()).optional(),
  output: z.array(z.unknown()).optional(),
  error: z.looseObject({ type: z.string(), message: z.string(), code: z.string().optional() }).nullish(),
})
const bodyOf = async (response: Response) => Body.parse(await response.json())

const hello = { model: 'gpt-x', messages: [{ role: 'user', content: 'hello' }] }

/** The data of a stream of events. */
async function events(response: Response): Promise<Record<string, unknown>[]> {
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice(6)))
}

describe('chat completions', () => {
  it('are answered by the policy, with its sampling, and recorded as turns (HAR-77)', async () => {
    const policy = scripted(() => ({ text: 'hi there', reasoning: 'greet' }))
    const { trial, send } = open(policy)
    const response = await send('/v1/chat/completions', { ...hello, temperature: 0, max_tokens: 5, unknown_field: 1 })
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: 'gpt-x',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi there', reasoning_content: 'greet' },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    })
    expect(policy.asked[0]).toMatchObject({
      temperature: 1,
      maxTokens: 5,
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(trial.turns).toEqual([{ messages: hello.messages, text: 'hi there', stopReason: 'stop' }])
  })

  it('take the sampling of the client where they are told to, never more tokens than the trial has (HAR-77)', async () => {
    const policy = scripted()
    const { send } = open(policy, { clientSampling: true })
    await send('/v1/chat/completions', { ...hello, temperature: 0, top_p: 0.5, max_tokens: 500, seed: 7, stop: 'x' })
    expect(policy.asked[0]).toMatchObject({ temperature: 0, topP: 0.5, maxTokens: 64, seed: 7, stop: ['x'] })
  })

  it('declare tools, and tell calls with ids that come back (HAR-77)', async () => {
    const policy = scripted((_, number) =>
      number === 0 ? { toolCalls: [call], stopReason: 'tool_calls' } : { text: 'done' },
    )
    const { trial, send } = open(policy)
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const first = await bodyOf(await send('/v1/chat/completions', { ...hello, tools }))
    const { message, finish_reason } = first.choices?.[0] ?? {}
    expect([message?.content, finish_reason]).toEqual([null, 'tool_calls'])
    expect(message?.tool_calls).toEqual([
      { id: 'call_0_0', type: 'function', function: { name: 'look', arguments: '{"at":"door"}' } },
    ])
    const messages = [...hello.messages, message, { role: 'tool', tool_call_id: 'call_0_0', content: 'open' }]
    await send('/v1/chat/completions', { ...hello, tools, messages })
    expect(policy.asked[1]?.tools).toEqual([{ name: 'look', parameters: { type: 'object' } }])
    expect(policy.asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'open' })
    expect(trial.stats).toEqual({ requests: 2, extended: 1, rewritten: 0, failed: 0 })
  })

  it('stream what they would answer at once (HAR-77)', async () => {
    const policy = scripted(() => ({ text: 'one two  three', toolCalls: [call], stopReason: 'tool_calls' }))
    const { send } = open(policy)
    const body = { ...hello, stream: true, stream_options: { include_usage: true } }
    const chunks = await events(await send('/v1/chat/completions', body))
    const deltas = chunks.flatMap(({ choices }) => (Array.isArray(choices) ? choices.map(({ delta }) => delta) : []))
    expect(deltas.map(({ content = '' }) => content).join('')).toBe('one two  three')
    expect(deltas.flatMap(({ tool_calls = [] }) => tool_calls)).toMatchObject([{ index: 0, id: 'call_0_0' }])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 13 } })
  })

  it('tell exact tokens to clients that ask for them (HAR-64)', async () => {
    const tokens = {
      prompt: Int32Array.of(1, 2),
      completion: Int32Array.of(5, 6),
      logprobs: Float64Array.of(-0.5, -1),
      policyVersion: 3,
    }
    const { trial, send } = open(scripted(() => ({ text: 'x', tokens })))
    const given = await bodyOf(await send('/v1/chat/completions', { ...hello, logprobs: true, return_token_ids: true }))
    expect(given).toMatchObject({ prompt_token_ids: [1, 2], choices: [{ token_ids: [5, 6] }] })
    expect(given.choices?.[0].logprobs?.content.map(({ logprob }) => logprob)).toEqual([-0.5, -1])
    expect(trial.turns[0]?.tokens).toEqual(tokens)
  })
})

describe('messages', () => {
  const asked = {
    model: 'claude-x',
    max_tokens: 50,
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'hello' }],
  }

  it('are the same conversations in the form of Anthropic (HAR-77)', async () => {
    const policy = scripted((_, number) =>
      number === 0
        ? { text: 'looking', toolCalls: [call], stopReason: 'tool_calls' }
        : { text: 'open', stopReason: 'length' },
    )
    const { trial, send } = open(policy)
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }]
    const first = await bodyOf(await send('/v1/messages', { ...asked, tools }, { 'x-api-key': trial.key }))
    expect(first).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'looking' },
        { type: 'tool_use', id: 'call_0_0', name: 'look', input: { at: 'door' } },
      ],
      usage: { input_tokens: 10, output_tokens: 3 },
    })
    const results = [
      { type: 'tool_result', tool_use_id: 'call_0_0', content: [{ type: 'text', text: 'it is open' }] },
      { type: 'text', text: 'well?' },
    ]
    const messages = [
      ...asked.messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ]
    const second = await bodyOf(await send('/v1/messages', { ...asked, tools, messages }))
    expect(second).toMatchObject({ stop_reason: 'max_tokens', content: [{ type: 'text', text: 'open' }] })
    expect(policy.asked[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', 'hello'],
      ['assistant', 'looking'],
      ['tool', 'it is open'],
      ['user', 'well?'],
    ])
    expect(trial.stats).toMatchObject({ extended: 1, rewritten: 0 })
  })

  it('stream as the blocks that they hold, and count tokens (HAR-77)', async () => {
    const { send } = open(
      scripted(() => ({ text: 'one two', reasoning: 'hm', toolCalls: [call], stopReason: 'tool_calls' })),
    )
    const given = await events(await send('/v1/messages', { ...asked, stream: true }))
    expect(given.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      'message_delta',
      'message_stop',
    ])
    const counted = await send('/v1/messages/count_tokens', { model: 'claude-x', messages: asked.messages })
    expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) })
  })
})

describe('system messages', () => {
  it('are one, at the beginning; those that agents send later are words of the user (HAR-77)', async () => {
    const policy = scripted()
    const { send } = open(policy)
    const environment = { role: 'system', content: [{ type: 'text', text: 'The folder is /w.' }] }
    await send('/v1/messages', {
      ...hello,
      max_tokens: 5,
      system: 'Be brief.',
      messages: [...hello.messages, environment],
    })
    const developer = (text: string) => ({
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text }],
    })
    const input = [
      developer('Be brief.'),
      developer('No jokes.'),
      { role: 'user', content: 'hello' },
      developer('Now.'),
    ]
    await send('/v1/responses', { model: 'm', input })
    expect(policy.asked.map(({ messages }) => messages.map(({ role, content }) => [role, content]))).toEqual([
      [
        ['system', 'Be brief.'],
        ['user', 'hello'],
        ['user', 'The folder is /w.'],
      ],
      [
        ['system', 'Be brief.\n\nNo jokes.'],
        ['user', 'hello'],
        ['user', 'Now.'],
      ],
    ])
  })
})

describe('responses', () => {
  it('go on from items or from the response before (HAR-77)', async () => {
    const policy = scripted((_, number) =>
      number === 0 ? { toolCalls: [call], stopReason: 'tool_calls' } : { text: 'done' },
    )
    const { trial, send } = open(policy)
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
    const first = await bodyOf(
      await send('/v1/responses', { model: 'm', instructions: 'Be brief.', input: 'hello', tools }),
    )
    expect(first).toMatchObject({
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'call_0_0', name: 'look' }],
    })
    const output = { type: 'function_call_output', call_id: 'call_0_0', output: 'open' }
    const second = await send('/v1/responses', {
      model: 'm',
      previous_response_id: first.id,
      input: [output],
      stream: true,
    })
    const given = await events(second)
    expect(given.at(0)).toMatchObject({ type: 'response.created', sequence_number: 0 })
    expect(given.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [{ content: [{ text: 'done' }] }] },
    })
    const items = [{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }, ...(first.output ?? []), output]
    await send('/v1/responses', { model: 'm', instructions: 'Be brief.', input: items, tools })
    expect(policy.asked[1]?.messages).toEqual(policy.asked[2]?.messages)
    expect(trial.stats).toEqual({ requests: 3, extended: 2, rewritten: 0, failed: 0 })
  })
})

describe('the conversations of a trial', () => {
  it('keep answers as they were drawn, whatever form they come back in (HAR-68)', async () => {
    const policy = scripted(() => ({ text: '  padded answer\n', reasoning: 'thought' }))
    const { send } = open(policy)
    await send('/v1/chat/completions', hello)
    const back = { role: 'assistant', content: [{ type: 'text', text: 'padded answer' }], refusal: null }
    const messages = [...hello.messages, back, { role: 'user', content: 'more' }]
    await send('/v1/chat/completions', { ...hello, messages })
    expect(policy.asked[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: '  padded answer\n',
      reasoning_content: 'thought',
    })
  })

  it('count a history that was changed, and take it as it is (HAR-67)', async () => {
    const policy = scripted()
    const { trial, send } = open(policy)
    await send('/v1/chat/completions', hello)
    const forged = { role: 'assistant', content: 'something else' }
    await send('/v1/chat/completions', {
      ...hello,
      messages: [...hello.messages, forged, { role: 'user', content: 'x' }],
    })
    expect(policy.asked[1]?.messages[1]).toMatchObject(forged)
    expect(trial.stats).toMatchObject({ extended: 0, rewritten: 1 })
  })

  it('have seeds by what is asked and how often, whatever else is asked meanwhile (HAR-75)', async () => {
    const seeds = async (order: string[]) => {
      const policy = scripted()
      const { send } = open(policy, {
        seed: (conversation, repeat) => Number.parseInt(conversation.slice(0, 8), 16) + repeat,
      })
      for (const content of order)
        await send('/v1/chat/completions', { ...hello, messages: [{ role: 'user', content }] })
      return new Map(order.map((content, at) => [content, policy.asked[at]?.seed]))
    }
    const [a, b] = [await seeds(['x', 'y', 'z']), await seeds(['z', 'x', 'y'])]
    expect(Object.fromEntries(a)).toEqual(Object.fromEntries(b))
  })
})

describe('what does not belong', () => {
  const policy = () => scripted()

  it.each([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer evsys-wrong' }],
    ['an empty key', { authorization: 'Bearer ', 'x-api-key': '' }],
  ])('%s is refused, in the form of each API (HAR-77)', async (_, headers) => {
    const { trial, send } = open(policy())
    const openai = await send('/v1/chat/completions', hello, headers)
    expect([openai.status, (await bodyOf(openai)).error?.type]).toEqual([401, 'authentication_error'])
    const anthropic = await send('/v1/messages', hello, headers)
    expect([anthropic.status, (await bodyOf(anthropic)).error?.type]).toEqual([401, 'authentication_error'])
    expect(trial.stats.requests).toBe(0)
  })

  it('the key of another trial opens its own alone, and the other goes on (HAR-77)', async () => {
    const proxy = createCaptureProxy()
    const [a, b] = [open(policy(), {}, proxy), open(policy(), {}, proxy)]
    expect((await a.send('/v1/chat/completions', hello, { authorization: `Bearer ${b.trial.key}` })).status).toBe(401)
    expect((await b.send('/v1/chat/completions', hello)).status).toBe(200)
    expect([a.trial.turns.length, b.trial.turns.length]).toEqual([0, 1])
    const elsewhere = await proxy.fetch(
      new Request('http://proxy/t/nobody/v1/chat/completions', { headers: { authorization: `Bearer ${a.trial.key}` } }),
    )
    expect(elsewhere.status).toBe(401)
    expect((await proxy.fetch(new Request('http://proxy/'))).status).toBe(401)
  })

  it('bodies that are too large, no JSON, or no request are told as such (HAR-77)', async () => {
    const { trial, send, get } = open(policy(), {}, createCaptureProxy({ maxBodyBytes: 1000 }))
    const statusOf = async (response: Promise<Response>) => {
      const given = await response
      return [given.status, (await bodyOf(given)).error?.message]
    }
    expect(await statusOf(send('/v1/chat/completions', 'x'.repeat(2000)))).toEqual([
      413,
      'the body is larger than 1000 bytes',
    ])
    expect(await statusOf(send('/v1/chat/completions', '{"model": '))).toEqual([
      400,
      expect.stringContaining('is no JSON'),
    ])
    expect(await statusOf(send('/v1/chat/completions', ''))).toEqual([400, expect.stringContaining('is no JSON')])
    expect(await statusOf(send('/v1/chat/completions', { model: 'm', messages: [] }))).toEqual([
      400,
      'messages: must not be empty',
    ])
    expect(await statusOf(send('/v1/chat/completions', { ...hello, n: 2 }))).toEqual([
      400,
      expect.stringContaining('one answer'),
    ])
    expect(await statusOf(send('/v1/messages', { ...hello, max_tokens: 0 }))).toEqual([400, expect.any(String)])
    expect(await statusOf(send('/v1/embeddings', {}))).toEqual([404, 'there is no /v1/embeddings here'])
    expect(await statusOf(get('/v1/chat/completions'))).toEqual([405, expect.any(String)])
    expect(await (await get('/v1/models')).json()).toMatchObject({ object: 'list', data: [{ id: 'policy' }] })
    expect(trial.stats.requests).toBe(0)
  })

  it('too many requests at once are held off, and their trial alone feels it (HAR-77)', async () => {
    const proxy = createCaptureProxy()
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = open(
      scripted(async () => {
        await gate
        return { text: 'late' }
      }),
      { maxConcurrent: 2 },
      proxy,
    )
    const other = open(policy(), {}, proxy)
    const waiting = [0, 1].map(() => slow.send('/v1/chat/completions', hello))
    while (slow.trial.stats.requests < 2) await new Promise((resolve) => setImmediate(resolve))
    const third = await slow.send('/v1/chat/completions', hello)
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await other.send('/v1/chat/completions', hello)).status).toBe(200)
    release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('turns beyond the last one, and requests after the end, change nothing (HAR-77)', async () => {
    const { trial, send } = open(policy(), { maxTurns: 1 })
    expect((await send('/v1/chat/completions', hello)).status).toBe(200)
    const beyond = await send('/v1/messages', { ...hello, max_tokens: 5 })
    expect([beyond.status, beyond.headers.get('x-should-retry')]).toEqual([403, 'false'])
    trial[Symbol.dispose]()
    const late = await send('/v1/chat/completions', hello)
    expect([late.status, (await bodyOf(late)).error?.code]).toEqual([410, 'over'])
    expect(trial.turns).toHaveLength(1)
  })

  it('a request that is under way when its trial ends leaves no turn (HAR-77)', async () => {
    const { trial, send } = open(
      scripted(
        (_, __, signal) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ),
    )
    const waiting = send('/v1/chat/completions', hello)
    while (trial.stats.requests < 1) await new Promise((resolve) => setImmediate(resolve))
    trial[Symbol.dispose]()
    expect((await waiting).status).toBe(410)
    expect(trial.turns).toEqual([])
  })
})

describe('failures of the model', () => {
  const failing = (error: unknown) => open(scripted(() => Promise.reject(error)))

  it.each([
    [new EvsysError('INFERENCE_FAILED', 'p m: 429 slow down', { retryable: true, retryAfterMs: 1500 }), 429, 429],
    [new EvsysError('INFERENCE_FAILED', 'p m: 529 overloaded', { retryable: true }), 503, 529],
    [new EvsysError('INFERENCE_REFUSED', 'p m: 400 the context is too long'), 400, 400],
    [new EvsysError('INFERENCE_REFUSED', 'p m: 401 no key'), 400, 400],
    [new EvsysError('BUDGET_EXCEEDED', 'the rollout has had all of its turns'), 403, 403],
    [new TypeError('secret detail'), 500, 500],
  ])('%s is %i for clients of OpenAI and %i for those of Anthropic (HAR-77)', async (error, openai, anthropic) => {
    const { trial, send } = failing(error)
    const a = await send('/v1/chat/completions', hello)
    const b = await send('/v1/messages', { ...hello, max_tokens: 5 })
    expect([a.status, b.status]).toEqual([openai, anthropic])
    expect(await b.json()).toMatchObject({ type: 'error', error: { type: expect.any(String) } })
    expect(await a.text()).not.toContain('secret detail')
    expect(trial.failure).toBe(error)
    expect([trial.turns.length, trial.stats.failed]).toEqual([0, 2])
    if (openai === 429) expect(a.headers.get('retry-after')).toBe('2')
  })
})
