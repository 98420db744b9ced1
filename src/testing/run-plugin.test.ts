import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sft } from '../algorithms/index.ts'
import { byteTokenizer, mockBackend } from '../backends/index.ts'
import {
  defineAgent,
  defineAlgorithm,
  defineBackend,
  defineCallback,
  defineDataSource,
  defineDataStore,
  defineEnvironment,
  defineInferenceClient,
  defineKeepRule,
  defineMetric,
  defineProposer,
  defineRenderer,
  defineStrategy,
  defineTransform,
  defineVerifier,
} from '../kernel/index.ts'
import { seedScores } from './research-fixtures.ts'
import { runPlugin } from './run-plugin.ts'
import { scriptedModel } from './scripted-model.ts'

const summary = 'For this test.'
describe('a plugin of each type on a fixture (REPO-11)', () => {
  it('transform: rows in, rows out, with params and seed', async () => {
    const shout = defineTransform({
      kind: 'shout',
      summary,
      params: z.strictObject({ mark: z.string().default('!') }),
      async *run(rows, { params, random }) {
        for await (const row of rows) yield { ...row, text: `${row.text}${params.mark}`, draw: random('x').int(10) }
      },
    })
    const rows = [{ text: 'a' }]
    const [row] = await runPlugin(shout, { rows, params: { mark: '?' }, seed: 3 })
    expect(row).toMatchObject({ text: 'a?' })
    expect(await runPlugin(shout, { rows, params: { mark: '?' }, seed: 3 })).toEqual([row])
    await expect(runPlugin(shout, { rows, params: { marks: '?' } })).rejects.toMatchObject({ code: 'PLUGIN_PARAMS' })
  })

  it('data source: rows of a data block', async () => {
    const counted = defineDataSource({
      kind: 'counted',
      summary,
      async *rows({ data }) {
        for (let i = 0; i < 2; i++) yield { row: { i, path: data.path }, place: `row ${i}` }
      },
    })
    expect(await runPlugin(counted, { data: { path: 'a.jsonl' } })).toEqual([
      { i: 0, path: 'a.jsonl' },
      { i: 1, path: 'a.jsonl' },
    ])
  })

  it('data store: what is written is listed and read', async () => {
    const memory = defineDataStore({
      kind: 'memory',
      summary,
      async open() {
        const files = new Map<string, Uint8Array[]>()
        return {
          async *read(path) {
            yield* files.get(path) ?? []
          },
          async write(path, bytes) {
            const parts: Uint8Array[] = []
            for await (const part of bytes) parts.push(part)
            files.set(path, parts)
          },
          exists: async (path) => files.has(path),
          async *list(prefix) {
            yield* [...files.keys()].filter((path) => path.startsWith(prefix))
          },
          async [Symbol.asyncDispose]() {},
        }
      },
    })
    expect(await runPlugin(memory, { files: { 'a/b.txt': 'yes' } })).toEqual({ 'a/b.txt': 'yes' })
  })

  it('metric: rewards in, one number out', async () => {
    const best = defineMetric({
      kind: 'best',
      summary,
      direction: 'max',
      compute: (rewards) => Math.max(...rewards.flat()),
    })
    expect(await runPlugin(best, { rewards: [[0.2, 0.5], [0.1]] })).toBe(0.5)
  })

  it('verifier: an answer in, a reward out; a judge from a script', async () => {
    const asks = defineVerifier({
      kind: 'asks',
      summary,
      async verify({ output }, { model, signal }) {
        const judge = await model?.('any')
        const messages = [{ role: 'user' as const, content: output }]
        const said = await judge?.generate({ messages, seed: 1, temperature: 0, maxTokens: 8 }, signal)
        return said?.text === 'good' ? 1 : 0
      },
    })
    expect(await runPlugin(asks, { output: 'yes', judge: ['good'] })).toEqual({ reward: 1 })
    expect(await runPlugin(asks, { output: 'yes', judge: ['bad'] })).toEqual({ reward: 0 })
  })

  it('algorithm: steps of the real loop on the mock engine', async () => {
    const halved = defineAlgorithm({
      kind: 'halved',
      summary,
      rowFormat: 'chat_messages',
      params: sft.params,
      async buildBatch(context) {
        return { ...(await sft.buildBatch(context)), metrics: { halved: 1 } }
      },
    })
    const { steps } = await runPlugin(halved, { steps: 2, params: { learning_rate: 0.1 } })
    expect(steps).toHaveLength(2)
    expect(steps[0]).toMatchObject({ halved: 1, 'loss:sum': expect.any(Number) })
    const again = await runPlugin(halved, { steps: 2, params: { learning_rate: 0.1 } })
    expect(again.steps).toEqual(steps)
  })

  it('backend: a run trains on it', async () => {
    let opened = 0
    const counted = defineBackend({
      kind: 'counted',
      summary,
      async open(context) {
        opened += 1
        return await mockBackend.open({ ...context, params: mockBackend.params.parse({}) })
      },
    })
    expect((await runPlugin(counted, { steps: 1 })).steps).toHaveLength(1)
    expect(opened).toBe(1)
  })

  it('callback: receives every step', async () => {
    const seen: number[] = []
    const watching = defineCallback({
      kind: 'watching',
      summary,
      open: async () => ({ onStepEnd: ({ step }) => void seen.push(step) }),
    })
    await runPlugin(watching, { steps: 3 })
    expect(seen).toEqual([0, 1, 2])
  })

  it('renderer: a conversation as tokens', async () => {
    const plain = defineRenderer({
      kind: 'plain',
      summary,
      async open({ tokenizer }) {
        const all = (messages: readonly { content: unknown }[]) =>
          tokenizer.encode(messages.map(({ content }) => String(content)).join(' '))
        return {
          conversation(messages) {
            const tokens = all(messages)
            return { tokens, message: new Int32Array(tokens.length), produced: new Uint8Array(tokens.length) }
          },
          prompt: all,
          parse: (tokens) => ({ message: { role: 'assistant', content: tokenizer.decode(tokens) }, complete: true }),
          stop: [],
        }
      },
    })
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const { tokens, prompt } = await runPlugin(plain, { messages })
    expect(byteTokenizer.decode(tokens)).toBe('hi')
    expect(prompt).toEqual(tokens)
  })

  it('inference client: one answer, then it is closed', async () => {
    let closed = false
    const echo = defineInferenceClient({
      kind: 'echo',
      summary,
      open: async () => ({
        ...scriptedModel(['hello']),
        async [Symbol.asyncDispose]() {
          closed = true
        },
      }),
    })
    expect(await runPlugin(echo, { messages: [{ role: 'user', content: 'hi' }] })).toMatchObject({ text: 'hello' })
    expect(closed).toBe(true)
  })

  it('agent: answers of a script, counted', async () => {
    const twice = defineAgent({
      kind: 'twice',
      summary,
      async run({ task: { instruction }, policy, sampling, signal }) {
        const messages = [{ role: 'user' as const, content: instruction }]
        await policy.generate({ messages, seed: 1, ...sampling }, signal)
        return { output: (await policy.generate({ messages, seed: 2, ...sampling }, signal)).text }
      },
    })
    expect(await runPlugin(twice, { answers: ['no', 'yes'] })).toEqual({ output: 'yes', turns: 2 })
    await expect(runPlugin(twice, { answers: ['no'] })).rejects.toThrow('one more was asked for')
  })

  it('environment: commands in order, then it is closed', async () => {
    let closed = false
    const unused = () => Promise.reject(new Error('not needed'))
    const echo = defineEnvironment({
      kind: 'echo',
      summary,
      open: async () => ({
        level: 'process' as const,
        workdir: '/',
        exec: async ({ argv }) => ({ exitCode: 0, signal: null, stdout: argv.join(' '), stderr: '', truncated: false }),
        spawn: unused,
        read: unused,
        write: unused,
        upload: unused,
        download: unused,
        empty: unused,
        killAll: unused,
        async [Symbol.asyncDispose]() {
          closed = true
        },
      }),
    })
    const results = await runPlugin(echo, { commands: [{ argv: ['a', 'b'] }, { argv: ['c'] }] })
    expect(results.map(({ stdout }) => stdout)).toEqual(['a b', 'c'])
    expect(closed).toBe(true)
  })

  it('proposer, strategy and keep rule: decisions on states of a session', async () => {
    const idle = defineProposer({ kind: 'idle', summary, propose: async () => ({ ideas: [] }) })
    expect(await runPlugin(idle, {})).toEqual({ ideas: [] })
    const onBest = defineStrategy({
      kind: 'on_best',
      summary,
      next: ({ incumbent }) => ({ parents: [incumbent], mode: 'improve', ideas: 1, avoidFamilies: [] }),
    })
    expect(await runPlugin(onBest, { state: { incumbent: 'a0' } })).toMatchObject({ parents: ['a0'] })
    const lower = defineKeepRule({
      kind: 'lower',
      summary,
      decide: ({ candidate: [first] }) =>
        first === undefined ? { action: 'run' } : { action: first.value < 0.08 ? 'keep' : 'discard', reason: 'lower' },
    })
    expect(await runPlugin(lower, {})).toEqual({ action: 'run' })
    const race = { candidate: seedScores([0.07]) }
    expect(await runPlugin(lower, { race })).toEqual({ action: 'keep', reason: 'lower' })
  })
})
