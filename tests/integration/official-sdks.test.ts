// The official SDKs of Anthropic and OpenAI as peers: they understand the provider that other tests take for the true one, and the
// capture proxy that agents take for their model.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import type { OpenInferenceClient } from '../../src/contracts/index.ts'
import { EvsysError } from '../../src/kernel/index.ts'
import { serveProxy } from '../../src/rollout/proxy/serve-proxy.ts'
import { root } from '../cli/run-main.ts'
import { startFakeProvider } from '../fake-provider.ts'
import { needs } from '../needs.ts'

const packages = ['@anthropic-ai/sdk@1.8.0', 'openai@6.49.0']
const home = join(root, '.tmp', 'official-sdks')

/** Installs both once, below .tmp. */
const sdks = needs(`${packages.join(' and ')} (the npm registry)`, () => {
  const mark = join(home, packages.join(' ').replaceAll('/', '+'))
  if (existsSync(mark)) return true
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"private": true}')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false']
  execFileSync('npm', ['install', ...options, ...packages], { cwd: home, stdio: 'pipe' })
  writeFileSync(mark, '')
  return true
})

const Line = z.object({ name: z.string(), answer: z.unknown().optional(), error: z.unknown().optional() })

async function askBy(url: string, key: string, ...wanted: string[]): Promise<unknown[]> {
  const script = join(root, 'tests/integration/official-sdks.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, [script, home, url, key, ...wanted], {
    timeout: 60_000,
  })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
  expect(lines.map(({ name }) => name)).toEqual(wanted)
  return lines.map(({ answer, error }) => answer ?? error)
}

const key = 'test-key-0123456789'

async function openProxy(generate: OpenInferenceClient['generate']): Promise<{ url: string; trialKey: string }> {
  const server = await serveProxy()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const options = { model: 'm', sampling: { maxTokens: 64, temperature: 1 }, maxTurns: 50, seed: () => 1 }
  const trial = server.open({ ...options, policy: { generate } })
  return { url: trial.anthropicUrl, trialKey: trial.key }
}

sdks.describe('the official SDKs', () => {
  sdks.it('take the provider of our tests for a true one: answers, usage, keys (RES-522)', async () => {
    const { url, heard } = await startFakeProvider()
    expect(await askBy(url, key, 'message', 'chat')).toMatchObject([
      {
        type: 'message',
        content: [{ type: 'text', text: 'pong' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      },
      {
        object: 'chat.completion',
        created: expect.any(Number),
        choices: [{ message: { content: 'pong' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 0 } },
      },
    ])
    expect(heard.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/chat/completions'])
  })

  sdks.it('and its failures for true ones, with the wait that it asks for (RES-522)', async () => {
    const { url, heard, misbehave } = await startFakeProvider()
    const after = { 'retry-after': '7' }
    misbehave(
      { status: 401 },
      { status: 429, headers: after },
      { status: 529 },
      { status: 401 },
      { status: 429, headers: after },
    )
    expect(await askBy(url, key, 'message', 'message', 'message', 'chat', 'chat')).toMatchObject([
      { kind: 'AuthenticationError', status: 401, type: 'authentication_error' },
      { kind: 'RateLimitError', status: 429, type: 'rate_limit_error', after: '7' },
      { status: 529, type: 'overloaded_error', words: expect.stringContaining('Overloaded') },
      { kind: 'AuthenticationError', status: 401, code: 'invalid_api_key' },
      { kind: 'RateLimitError', status: 429, code: 'rate_limit_exceeded', after: '7' },
    ])
    misbehave({ status: 529, headers: { 'retry-after-ms': '1' } }, { status: 429, headers: { 'retry-after-ms': '1' } })
    expect(await askBy(url, key, 'messageAgain')).toMatchObject([{ content: [{ text: 'pong' }] }])
    expect(heard).toHaveLength(8)
  })

  sdks.it('read what the capture proxy answers, whole and as streams (HAR-77)', async () => {
    const { url, trialKey } = await openProxy(async () => ({
      ...{ text: 'one two', reasoning: 'hm', stopReason: 'tool_calls' as const },
      toolCalls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: { at: 'door' } } }],
      usage: { promptTokens: 10, completionTokens: 3, cachedPromptTokens: 4, latencyS: 0 },
    }))
    const wanted = ['message', 'messageStream', 'countTokens', 'chat', 'chatStream', 'response', 'responseStream']
    const message = {
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'one two' },
        { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'door' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 3 },
    }
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"door"}' } }
    const chat = {
      choices: [{ message: { content: 'one two', tool_calls: [call] }, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    }
    const response = {
      status: 'completed',
      output: [
        { type: 'reasoning' },
        { type: 'message', content: [{ type: 'output_text', text: 'one two' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"door"}' },
      ],
      usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
    }
    const count = { input_tokens: expect.any(Number) }
    expect(await askBy(url, trialKey, ...wanted)).toMatchObject([
      message,
      message,
      count,
      chat,
      chat,
      response,
      response,
    ])
  })

  sdks.it('tell failures of the model behind the proxy by their own names (HAR-77)', async () => {
    const { url, trialKey } = await openProxy(async () => {
      throw new EvsysError('INFERENCE_FAILED', 'p m: 429 slow down', { retryable: true, retryAfterMs: 2000 })
    })
    expect(await askBy(url, trialKey, 'message', 'messageStream', 'chat', 'responseStream')).toMatchObject([
      { kind: 'RateLimitError', status: 429, type: 'rate_limit_error', after: '2' },
      { kind: 'RateLimitError', status: 429, type: 'rate_limit_error', after: '2' },
      { kind: 'RateLimitError', status: 429, after: '2' },
      { kind: 'RateLimitError', status: 429, after: '2' },
    ])
    expect(await askBy(url, 'wrong-key', 'message', 'chat')).toMatchObject([
      { kind: 'AuthenticationError', status: 401 },
      { kind: 'AuthenticationError', status: 401 },
    ])
  })
})
