import { describe, expect, it } from 'vitest'
import { type Heard, type Reply, startFakeProvider } from '../../../../tests/fake-provider.ts'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import { sampleBrief, sampleIdea } from '../../../../tests/research-brief.ts'
import type { Brief } from '../../../contracts/index.ts'
import { usageOfError } from '../ledger/proposal-usage.ts'
import { anthropic, openaiCompatible } from './model-proposers.ts'

const good = JSON.stringify({ ideas: [sampleIdea(), sampleIdea({ title: 'Other' })] })

/** Answers with these texts, one after the other, in the form of the route. */
function says(...texts: { text: string; stop?: string | undefined }[]): Reply {
  let next = 0
  return ({ path }: Heard) => {
    const { text, stop } = texts[Math.min(next++, texts.length - 1)] ?? { text: '' }
    if (path.endsWith('/v1/messages'))
      return {
        model: 'claude-sonnet-4-6',
        content: [{ type: 'text', text }],
        stop_reason: stop ?? 'end_turn',
        usage: { input_tokens: 1000, output_tokens: 100 },
      }
    return {
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: stop ?? 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 100 },
    }
  }
}

const key = 'sk-ant-test-0123456789-0123456789'

async function ask(
  reply: Reply,
  prepare: (provider: Awaited<ReturnType<typeof startFakeProvider>>) => void = () => {},
  params: object = {},
) {
  const provider = await startFakeProvider(reply)
  prepare(provider)
  const context = pluginContext(anthropic, { base_url: provider.url, retry_wait_s: 0, max_attempts: 4, ...params })
  const proposal = anthropic.propose(sampleBrief(), { ...context, secret: () => key })
  return { provider, context, proposal }
}

describe('proposers with a model', () => {
  it('ask for several labelled ideas and tell what they cost (RES-511)', async () => {
    const { provider, proposal } = await ask(says({ text: good }))
    const { ideas, usage } = await proposal
    expect(ideas.map(({ title }) => title)).toEqual(['Wider layer', 'Other'])
    expect(usage).toMatchObject({ promptTokens: 1000, completionTokens: 100, costUsd: 0.0045 })
    expect(provider.heard[0]?.headers['x-api-key']).toBe(key)
    expect(JSON.stringify(provider.heard[0]?.body)).toContain('Give 3 different ideas')
  })

  it('are asked where ANTHROPIC_BASE_URL and OPENAI_BASE_URL say, unless params say another (USE-177)', async () => {
    const provider = await startFakeProvider(says({ text: good }))
    const at = (path: string) => (name: string) => (name.endsWith('_BASE_URL') ? `${provider.url}${path}` : key)
    await anthropic.propose(sampleBrief(), { ...pluginContext(anthropic, {}), secret: at('') })
    await openaiCompatible.propose(sampleBrief(), {
      ...pluginContext(openaiCompatible, { model: 'm' }),
      secret: at('/v1'),
    })
    expect(provider.heard.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/chat/completions'])
  })

  it('keep an answer within what the caps of the session leave (RES-623)', async () => {
    const limited = async (limit: Brief['limit']) => {
      const provider = await startFakeProvider(says({ text: good }))
      const context = pluginContext(anthropic, { base_url: provider.url })
      const brief: Brief = { ...sampleBrief(), ...(limit === undefined ? {} : { limit }) }
      const proposal = await anthropic
        .propose(brief, { ...context, secret: () => key })
        .catch((cause: unknown) => cause)
      return { proposal, asked: provider.heard.map(({ body }) => Number(body.max_tokens)) }
    }
    expect((await limited(undefined)).asked).toEqual([16_000])
    expect((await limited({ usd: 1, tokens: 1_000_000 })).asked).toEqual([16_000])
    // $0.06 buys 4,000 tokens of an answer at $15 for a million, less what the prompt costs.
    const [dear = 0] = (await limited({ usd: 0.06 })).asked
    expect(dear).toBeGreaterThan(3000)
    expect(dear).toBeLessThan(4000)
    const [few = 0] = (await limited({ tokens: 4000 })).asked
    expect(few).toBeLessThan(3500)
    const none = await limited({ usd: 0.001 })
    expect(none).toMatchObject({ asked: [], proposal: { code: 'INFERENCE_FAILED' } })
    expect(String(none.proposal)).toContain('leave no room')
  })

  it('survive 429, 529, answers cut off on the way and broken JSON of the API (RES-512)', async () => {
    const { provider, context, proposal } = await ask(says({ text: good }), ({ misbehave }) =>
      misbehave({ status: 429, headers: { 'retry-after-ms': '0' } }, { status: 529 }, 'truncated'),
    )
    expect((await proposal).ideas).toHaveLength(2)
    expect(provider.heard).toHaveLength(4)
    expect(context.logged).toHaveLength(3)
    const second = await ask(says({ text: good }), ({ misbehave }) => misbehave('malformed', 'reset'))
    expect((await second.proposal).ideas).toHaveLength(2)
  })

  it('ask again once when an answer cannot be used, and add up both (RES-512)', async () => {
    const { provider, proposal } = await ask(
      says({ text: '{"ideas": [{"title": "cut', stop: 'max_tokens' }, { text: good }),
    )
    const { ideas, usage } = await proposal
    expect(ideas).toHaveLength(2)
    expect(usage).toMatchObject({ promptTokens: 2000, completionTokens: 200, costUsd: 0.009 })
    expect(JSON.stringify(provider.heard[1]?.body)).toContain('That answer cannot be used: it was cut off')
  })

  it('take the whole ideas of an answer that is cut off, without asking again (RES-512)', async () => {
    const { provider, proposal } = await ask(says({ text: good.slice(0, -30), stop: 'max_tokens' }))
    expect((await proposal).ideas.map(({ title }) => title)).toEqual(['Wider layer'])
    expect(provider.heard).toHaveLength(1)
  })

  it('fail with a code and the bill after two answers that cannot be used (RES-512)', async () => {
    const { provider, proposal } = await ask(says({ text: 'I am not sure.' }))
    const error = await proposal.catch((cause: unknown) => cause)
    expect(error).toMatchObject({
      code: 'INFERENCE_FAILED',
      message: 'anthropic: two answers could not be used: it holds no JSON',
    })
    expect(usageOfError(error)).toMatchObject({ costUsd: 0.009 })
    expect(provider.heard).toHaveLength(2)
  })

  it('tell the bill also when the second answer never comes (RES-512)', async () => {
    const refusal = { status: 401, body: `{"error":{"message":"bad key ${key}"}}` }
    const reply = says({ text: 'no' })
    const asked = await ask((heard) => {
      asked.provider.misbehave(refusal) // from the second request on
      return reply(heard)
    })
    const { proposal } = asked
    const error = await proposal.catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: 'INFERENCE_REFUSED' })
    expect(String(error)).not.toContain(key)
    expect(usageOfError(error)).toMatchObject({ costUsd: 0.0045 })
  })

  it('give up on a provider that is dead or does not answer in time (RES-512)', async () => {
    const slow = await ask(says({ text: good }), ({ misbehave }) => misbehave('slow', 'slow'), {
      timeout_s: 0.05,
      max_attempts: 2,
    })
    await expect(slow.proposal).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
      message: expect.stringContaining('no whole answer within 0.05 s'),
    })
    const context = pluginContext(anthropic, { base_url: 'http://127.0.0.1:9', retry_wait_s: 0, max_attempts: 2 })
    await expect(anthropic.propose(sampleBrief(), { ...context, secret: () => key })).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
    })
  })

  it('say what to do without a key (RES-511)', async () => {
    const context = pluginContext(anthropic, {})
    await expect(anthropic.propose(sampleBrief(), context)).rejects.toThrow('ANTHROPIC_API_KEY')
  })

  it('reach any server of the Chat Completions API, without a key unless one is named (RES-511)', async () => {
    const provider = await startFakeProvider(says({ text: good }))
    const context = pluginContext(openaiCompatible, {
      model: 'm',
      base_url: `${provider.url}/v1`,
      price: { input: 1, output: 2 },
    })
    const { ideas, usage } = await openaiCompatible.propose(sampleBrief(), context)
    expect(ideas).toHaveLength(2)
    expect(usage?.costUsd).toBe(0.0012)
    expect(provider.heard[0]?.headers.authorization).toBeUndefined()
  })
})
