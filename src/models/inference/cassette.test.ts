import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientServices } from '../../../tests/client-services.ts'
import { defaultReply, startFakeProvider } from '../../../tests/fake-provider.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { GenerateRequest } from '../../contracts/index.ts'
import type { CassetteMode } from './cassette.ts'
import { openInferenceClient } from './open-inference-client.ts'

const folder = temporaryFolders()
const key = 'sk-test-0123456789abcdef'
const { signal } = new AbortController()
const ping: GenerateRequest = {
  messages: [{ role: 'user', content: `ping ${key}` }],
  maxTokens: 64,
  temperature: 1,
  seed: 1,
}

async function setUp() {
  const provider = await startFakeProvider()
  const at = folder()
  const open = (mode: CassetteMode, params: object = {}, secrets: Record<string, string> = { KEY: key }) =>
    openInferenceClient(
      {
        kind: 'anthropic',
        params: { model: 'claude-sonnet-4-6', base_url: provider.url, api_key: '${secret:KEY}', ...params },
      },
      clientServices(secrets),
      { cassette: { folder: at, mode } },
    )
  return { provider, at, open }
}

describe('a cassette', () => {
  it('replays what it recorded, without key and without network (INF-10)', async () => {
    const { provider, open } = await setUp()
    const recorded = await (await open('record')).generate(ping, signal)
    await provider.close()
    const replayed = await (await open('replay', {}, {})).generate(ping, signal)
    expect(replayed).toEqual({ ...recorded, replayed: true })
    expect(provider.heard).toHaveLength(1)
  })

  it('has no answer for any other request: that is an error (INF-10)', async () => {
    const { open } = await setUp()
    await (await open('record')).generate(ping, signal)
    for (const change of [{ seed: 2 }, { temperature: 0 }, { messages: [{ role: 'user' as const, content: 'x' }] }]) {
      await expect((await open('replay')).generate({ ...ping, ...change }, signal)).rejects.toMatchObject({
        code: 'CASSETTE_MISSING',
        fix: expect.stringContaining('record'),
      })
    }
    await expect((await open('replay', { model: 'claude-opus-5' })).generate(ping, signal)).rejects.toMatchObject({
      code: 'CASSETTE_MISSING',
    })
  })

  it('is found whatever does not change the answer (INF-10)', async () => {
    const { open } = await setUp()
    await (await open('record')).generate(ping, signal)
    const other = { timeout_s: 9, max_attempts: 1, api_key: '${secret:OTHER}', price: { input: 1, output: 1 } }
    const reordered = { seed: 1, temperature: 1, maxTokens: 64, messages: ping.messages }
    expect(await (await open('replay', other, {})).generate(reordered, signal)).toMatchObject({ replayed: true })
  })

  it('holds no secret, not even one that stands in a prompt (INF-7, INF-10)', async () => {
    const { at, open } = await setUp()
    await (await open('record', { extra_headers: { 'x-extra': '${secret:KEY}' } })).generate(ping, signal)
    const files = readdirSync(at)
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)])
    const text = readFileSync(join(at, files[0] ?? ''), 'utf8')
    expect(text).not.toContain(key)
    expect(text).toContain('ping [secret:KEY]')
  })

  it('in auto mode asks once for what is not there, also when it is wanted twice at once (INF-10)', async () => {
    const { provider, open } = await setUp()
    const client = await open('auto')
    const [first, second] = await Promise.all([client.generate(ping, signal), client.generate(ping, signal)])
    expect([first.replayed, second.replayed]).toEqual([undefined, undefined])
    expect((await client.generate(ping, signal)).replayed).toBe(true)
    expect(provider.heard).toHaveLength(1)
    await (await open('record')).generate(ping, signal)
    expect(provider.heard).toHaveLength(2)
  })

  it('answers who still waits when who asked first has gone (INF-10)', async () => {
    const { provider, open } = await setUp()
    provider.misbehave('slow')
    const client = await open('auto')
    const gone = new AbortController()
    const first = client.generate(ping, gone.signal)
    await expect.poll(() => provider.heard.length).toBe(1)
    const second = client.generate(ping, signal)
    // The second has read the cassette and found the first under way before the first goes.
    await new Promise((resolve) => setImmediate(resolve))
    gone.abort(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    expect(await second).toMatchObject({ text: 'pong' })
    expect(provider.heard).toHaveLength(2)
  })

  it('keeps no failure (INF-10)', async () => {
    const { provider, at, open } = await setUp()
    provider.misbehave({ status: 400 })
    const client = await open('auto')
    await expect(client.generate(ping, signal)).rejects.toMatchObject({ code: 'INFERENCE_REFUSED' })
    expect(await client.generate(ping, signal)).toMatchObject({ text: 'pong' })
    expect(readdirSync(at)).toHaveLength(1)
  })

  it.each([
    ['cut off', (text: string) => text.slice(0, 40)],
    ['of another version', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['of another request', (text: string) => text.replace(/"key": "\w/, '"key": "x')],
  ])('tells of a file that is %s (INF-10)', async (_name, damage) => {
    const { at, open } = await setUp()
    await (await open('record')).generate(ping, signal)
    const file = join(at, readdirSync(at)[0] ?? '')
    writeFileSync(file, damage(readFileSync(file, 'utf8')))
    await expect((await open('auto')).generate(ping, signal)).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringContaining(file),
      fix: expect.stringContaining('record'),
    })
  })

  it('keeps calls and reasoning (INF-10)', async () => {
    const provider = await startFakeProvider((heard) => ({
      ...Object(defaultReply(heard)),
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: [1] } },
      ],
      stop_reason: 'tool_use',
    }))
    const spec = { kind: 'anthropic', params: { model: 'm', base_url: provider.url, api_key: 'literal-key' } }
    const cassette = { folder: folder(), mode: 'auto' as const }
    const client = await openInferenceClient(spec, clientServices(), { cassette })
    const first = await client.generate(ping, signal)
    expect(first).toMatchObject({ reasoning: 'hm', toolCalls: [{ id: 't' }], stopReason: 'tool_calls' })
    expect(await client.generate(ping, signal)).toEqual({ ...first, replayed: true })
  })
})
