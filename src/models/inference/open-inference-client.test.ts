import { describe, expect, it } from 'vitest'
import { clientServices } from '../../../tests/client-services.ts'
import { startFakeProvider } from '../../../tests/fake-provider.ts'
import { defineInferenceClient, pluginCard } from '../../kernel/index.ts'
import { mockClient } from '../plugins.ts'
import { anthropicClient } from './anthropic.ts'
import { clientSecrets, meterUsage, modelClient, openInferenceClient } from './open-inference-client.ts'
import { openaiCompatibleClient } from './openai.ts'

const request = { messages: [{ role: 'user' as const, content: 'a b c' }], maxTokens: 2, temperature: 0, seed: 1 }
const { signal } = new AbortController()
const cardOf = (plugin: Parameters<typeof pluginCard>[0]) => pluginCard(plugin, { origin: 'built-in', hash: 'x' })

describe('openInferenceClient', () => {
  it('takes the key from the secret that the provider usually has (INF-7)', async () => {
    const provider = await startFakeProvider()
    const spec = { kind: 'anthropic', params: { model: 'claude-sonnet-4-6', base_url: provider.url } }
    const client = await openInferenceClient(spec, clientServices({ ANTHROPIC_API_KEY: 'key-of-anthropic' }))
    await client.generate(request, signal)
    expect(provider.heard[0]?.headers['x-api-key']).toBe('key-of-anthropic')
    await expect(openInferenceClient(spec, clientServices())).rejects.toMatchObject({ code: 'SECRET_MISSING' })
  })

  it('knows which secrets a client needs before it is opened (INF-7)', () => {
    expect(clientSecrets({ params: {} }, cardOf(anthropicClient))).toEqual(['ANTHROPIC_API_KEY'])
    expect(clientSecrets({ params: { api_key: '${secret:MINE}' } }, cardOf(anthropicClient))).toEqual(['MINE'])
    expect(clientSecrets({ params: { extra_headers: { x: '${secret:B}' } } }, cardOf(openaiCompatibleClient))).toEqual([
      'B',
    ])
    expect(clientSecrets({ params: { api_key: '${secret:MINE}' } }, undefined)).toEqual(['MINE'])
  })

  it('keeps secrets out of logs and errors, also those of plugins (INF-7)', async () => {
    const leaky = defineInferenceClient({
      kind: 'leaky',
      summary: 'Tells what it should not.',
      params: openaiCompatibleClient.params,
      async open({ params, log }) {
        log('info', `opened with ${params.api_key}`)
        return {
          async generate() {
            throw new Error(`failed with ${params.api_key}`)
          },
        }
      },
    })
    const services = clientServices({ MINE: 'very-secret-value' }, [leaky])
    const params = { model: 'm', base_url: 'http://127.0.0.1:9', api_key: '${secret:MINE}' }
    const client = await openInferenceClient({ kind: 'leaky', params }, services)
    await expect(client.generate(request, signal)).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
      message: 'leaky: failed with [secret:MINE]',
    })
    expect(services.logged).toEqual(['info opened with [secret:MINE]'])
    const literal = await openInferenceClient(
      { kind: 'leaky', params: { ...params, api_key: 'written-out-key' } },
      services,
    )
    await expect(literal.generate(request, signal)).rejects.toThrow('leaky: failed with [secret:api_key]')
  })

  it.each([
    ['nonesuch', {}, 'PLUGIN_UNKNOWN'],
    ['opnai', { model: 'm' }, 'PLUGIN_UNKNOWN'],
    ['openai', {}, 'PLUGIN_PARAMS'],
    ['openai', { model: 'm', modle: 'x' }, 'PLUGIN_PARAMS'],
    ['openai_compatible', { model: 'm', base_url: 'file:///etc/passwd' }, 'PLUGIN_PARAMS'],
  ])('refuses %s %j (INF-7)', async (kind, params, code) => {
    await expect(openInferenceClient({ kind, params }, clientServices())).rejects.toMatchObject({
      code,
      fix: expect.any(String),
    })
  })
})

describe('modelClient', () => {
  it.each([
    ['claude-sonnet-4-6', { kind: 'anthropic', params: { model: 'claude-sonnet-4-6' } }],
    ['gpt-5', { kind: 'openai', params: { model: 'gpt-5' } }],
    ['o4-mini', { kind: 'openai', params: { model: 'o4-mini' } }],
    ['gemini-2.5-pro', { kind: 'gemini', params: { model: 'gemini-2.5-pro' } }],
    ['evsys/tiny', { kind: 'local', params: { model: 'evsys/tiny' } }],
    ['openai:ft:gpt-4.1:me', { kind: 'openai', params: { model: 'ft:gpt-4.1:me' } }],
    ['tinker:Qwen/Qwen3-8B', { kind: 'tinker', params: { model: 'Qwen/Qwen3-8B' } }],
  ])('knows %s by its name (INF-8)', (name, spec) => {
    expect(modelClient(name)).toEqual(spec)
  })

  it('does not guess (INF-8)', () => {
    expect(() => modelClient('llama-7b')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', fix: expect.stringContaining('openai:NAME') }),
    )
  })
})

describe('mock', () => {
  it('answers from its template, within the length (INF-9)', async () => {
    const open = (params: object) => openInferenceClient({ kind: 'mock', params: { ...params } }, clientServices())
    expect(await (await open({})).generate(request, signal)).toEqual({
      text: 'a b',
      model: 'mock',
      stopReason: 'length',
      usage: { promptTokens: 3, completionTokens: 2, latencyS: 0, costUsd: 0 },
    })
    expect(await (await open({ template: '<{prompt}>' })).generate({ ...request, maxTokens: 9 }, signal)).toMatchObject(
      {
        text: '<a b c>',
        stopReason: 'stop',
      },
    )
    expect(mockClient.needs).toBeUndefined()
  })
})

describe('meterUsage', () => {
  it('adds up tokens and dollars; a price that is not known makes the sum a lower bound (INF-6)', async () => {
    const answers = [{ costUsd: 0.5 }, {}, { costUsd: 0.25, replayed: true }]
    const { client, total } = meterUsage({
      async generate() {
        const { costUsd, replayed = false } = answers.shift() ?? {}
        const usage = {
          promptTokens: 10,
          completionTokens: 1,
          latencyS: 0,
          ...(costUsd === undefined ? {} : { costUsd }),
        }
        return { text: '', stopReason: 'stop', usage, replayed }
      },
    })
    for (let call = 0; call < 3; call++) await client.generate(request, signal)
    expect(total()).toEqual({ calls: 2, promptTokens: 20, completionTokens: 2, costUsd: 0.5, unpriced: 1, replayed: 1 })
  })
})
