import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { attempt } from '../../../tests/agent-run.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { defineAgent, EvsysError } from '../../kernel/index.ts'
import { LimitReached } from '../policy/limit-reached.ts'

/** Asks for as long as it may. */
const talker = defineAgent({
  kind: 'talker',
  summary: 'Asks for as long as it may.',
  params: z.strictObject({ max_turns: z.int().optional(), times: z.int().default(1000) }),
  async run({ policy, sampling, params, signal }) {
    let text = ''
    for (let turn = 0; turn < params.times; turn++) {
      const messages = [{ role: 'user' as const, content: `${turn}` }]
      text = (await policy.generate({ messages, ...sampling, seed: turn }, signal)).text
    }
    return { output: `said ${text}` }
  },
})

const failing = (error: unknown) =>
  defineAgent({
    kind: 'failing',
    summary: 'Fails after a turn.',
    async run({ policy, sampling, signal }) {
      await policy.generate({ messages: [{ role: 'user', content: 'a' }], ...sampling, seed: 0 }, signal)
      throw error
    },
  })

describe('an agent that is run', () => {
  it('has every answer kept as a turn, with exact tokens, and the usage summed (AGT-1)', async () => {
    const tokens = {
      ...{ prompt: Int32Array.of(1, 2), completion: Int32Array.of(3) },
      ...{ logprobs: Float64Array.of(-0.5), policyVersion: 7 },
    }
    const usage = { promptTokens: 3, completionTokens: 2, latencyS: 0.5, costUsd: 0.25 }
    const policy = scriptedModel((_, call) => ({ text: `answer ${call}`, tokens, usage }))
    const outcome = await attempt('talker', { times: 2 }, { policy, plugins: [talker] })
    expect(outcome).toMatchObject({ ended: 'done', output: 'said answer 1' })
    expect(outcome.turns).toEqual([
      { messages: [{ role: 'user', content: '0' }], text: 'answer 0', stopReason: 'stop', tokens },
      { messages: [{ role: 'user', content: '1' }], text: 'answer 1', stopReason: 'stop', tokens },
    ])
    expect(outcome.usage).toMatchObject({ promptTokens: 6, completionTokens: 4, costUsd: 0.5 })
    expect(outcome.usage.latencyS).toBeGreaterThanOrEqual(1) // what the answers took, as their model tells it
    expect(outcome.error).toBeUndefined()
  })

  it('ends at its limit of turns with its last words; the smaller of two limits holds (AGT-1)', async () => {
    const policy = scriptedModel((_, call) => `answer ${call}`)
    const outcome = await attempt('talker', { max_turns: 3 }, { policy, plugins: [talker], maxTurns: 5 })
    expect(outcome).toMatchObject({ ended: 'done', output: 'answer 2', truncated: 'max_turns' })
    expect(outcome.turns).toHaveLength(3)
    const shorter = await attempt('talker', { max_turns: 3 }, { policy, plugins: [talker], maxTurns: 1 })
    expect(shorter.turns).toHaveLength(1)
  })

  it('ends at its limit of tokens: the last turn may draw what is left (AGT-1)', async () => {
    const policy = scriptedModel(() => 'x')
    const outcome = await attempt('talker', {}, { policy, plugins: [talker], maxTotalTokens: 5 })
    expect(policy.asked.map(({ maxTokens }) => maxTokens)).toEqual([5, 3, 1])
    expect(outcome).toMatchObject({ ended: 'done', truncated: 'max_tokens' })
  })

  it('ends where the model has no room for the conversation (AGT-1)', async () => {
    const policy = scriptedModel((_, call) => {
      if (call === 1) throw new LimitReached('context')
      return 'x'
    })
    const outcome = await attempt('talker', {}, { policy, plugins: [talker] })
    expect(outcome).toMatchObject({ ended: 'done', output: 'x', truncated: 'context' })
  })

  it('is cut off at its deadline, also one that takes no notice, and keeps its turns (AGT-1)', async () => {
    const deaf = defineAgent({
      kind: 'deaf',
      summary: 'Never comes back.',
      async run({ policy, sampling, signal }) {
        await policy.generate({ messages: [{ role: 'user', content: 'a' }], ...sampling, seed: 0 }, signal)
        return new Promise<never>(() => {})
      },
    })
    const outcome = await attempt('deaf', {}, { policy: scriptedModel(['one']), plugins: [deaf], timeoutMs: 20 })
    expect(outcome).toMatchObject({ ended: 'timeout', output: 'one', error: { code: 'PLUGIN_FAILED', infra: false } })
    expect(outcome.turns).toHaveLength(1)
  })

  it('that is cancelled while the model answers keeps the turns before, and gets no more (AGT-2)', async () => {
    const stop = new AbortController()
    let afterwards: Promise<unknown> | undefined
    const policy = scriptedModel((_, call) => {
      if (call === 0) return 'one'
      stop.abort(new Error('enough'))
      return new Promise(() => {})
    })
    const stubborn = defineAgent({
      kind: 'stubborn',
      summary: 'Asks again after it was told to stop.',
      async run({ policy: given, sampling, signal }) {
        const ask = () => given.generate({ messages: [], ...sampling, seed: 0 }, signal)
        await ask()
        afterwards = ask()
          .catch(() => ask())
          .catch((error: unknown) => error)
        await afterwards
        return { output: 'late' }
      },
    })
    const outcome = await attempt('stubborn', {}, { policy, plugins: [stubborn], signal: stop.signal })
    expect(outcome).toMatchObject({ ended: 'cancelled', output: 'one', error: { code: 'INTERRUPTED', infra: true } })
    expect(outcome.turns.map(({ text }) => text)).toEqual(['one'])
    expect(Object.isFrozen(outcome.turns)).toBe(true)
  })

  it('failures are typed: those of the model are infrastructure, its own are not (AGT-2)', async () => {
    const refused = new EvsysError('INFERENCE_FAILED', 'overloaded')
    const broken = scriptedModel(() => {
      throw refused
    })
    const ofModel = await attempt('talker', {}, { policy: broken, plugins: [talker] })
    expect(ofModel).toMatchObject({
      ended: 'failed',
      error: { code: 'INFERENCE_FAILED', message: 'overloaded', infra: true },
    })

    const plain = scriptedModel(() => {
      throw new TypeError('socket')
    })
    const ofWire = await attempt('talker', {}, { policy: plain, plugins: [talker] })
    expect(ofWire.error).toEqual({ code: 'INFERENCE_FAILED', message: 'the model: socket', infra: true })

    for (const thrown of [new Error('oops'), 'oops', Object.freeze({ oops: 1 })]) {
      const own = await attempt('failing', {}, { policy: scriptedModel(['one']), plugins: [failing(thrown)] })
      expect(own).toMatchObject({ ended: 'failed', output: 'one', error: { code: 'PLUGIN_FAILED', infra: false } })
      expect(own.turns).toHaveLength(1)
    }
  })

  it('a command that cannot be started is a failure of the environment (AGT-2)', async () => {
    const environment = {
      ...{ level: 'process' as const, workdir: '/' },
      exec: () => Promise.reject(new Error('the sandbox is gone')),
    }
    const worker = defineAgent({
      kind: 'worker',
      summary: 'Runs a command.',
      async run({ environment: place, signal }) {
        await place?.exec({ argv: ['true'] }, signal).catch((cause: unknown) => {
          throw new Error('no shell', { cause })
        })
        return { output: '' }
      },
    })
    const outcome = await attempt(
      'worker',
      {},
      {
        policy: scriptedModel([]),
        plugins: [worker],
        environment: environment as unknown as OpenEnvironment, // it is asked for one command alone
      },
    )
    expect(outcome.error).toMatchObject({ message: 'the model: no shell', infra: true })
  })

  it('an agent that is not there, has wrong params, or returns nothing fails without a throw (AGT-2)', async () => {
    const policy = scriptedModel(['x'])
    expect((await attempt('nobody', {}, { policy })).error).toMatchObject({ code: 'PLUGIN_UNKNOWN', infra: true })
    expect((await attempt('chat', { temper: 1 }, { policy })).error).toMatchObject({
      code: 'PLUGIN_PARAMS',
      infra: true,
    })
    const silent = defineAgent({
      kind: 'silent',
      summary: 'Returns nothing.',
      run: (() => {}) as unknown as () => Promise<{ output: string }>, // as a plugin in JavaScript may
    })
    expect((await attempt('silent', {}, { policy, plugins: [silent] })).error).toMatchObject({ infra: false })
  })

  it('a thousand at once: one that fails does not touch the others (AGT-2)', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        attempt(
          'talker',
          { times: 1 },
          {
            plugins: [talker],
            policy: scriptedModel(() => {
              if (i === 500) throw new Error('down')
              return `${i}`
            }),
          },
        ),
      ),
    )
    expect(outcomes.filter(({ ended }) => ended === 'done')).toHaveLength(999)
    expect(outcomes[500]?.error?.infra).toBe(true)
    expect(outcomes[999]?.output).toBe('said 999')
  })
})
