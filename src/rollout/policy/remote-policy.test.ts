import { describe, expect, it } from 'vitest'
import type { PolicyQuestion } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { limitOf } from './limit-reached.ts'
import { remotePolicy } from './remote-policy.ts'

const request = { messages: [{ role: 'user' as const, content: 'go' }], seed: 7, maxTokens: 5, temperature: 1 }
const answer = (text: string) => ({
  ...{ text, stop_reason: 'stop' as const },
  ...{ prompt_tokens: 3, completion_tokens: 2, latency_s: 0.1 },
})
const never = new AbortController().signal

describe('questions to a policy elsewhere', () => {
  it('reach it in words, and each gets its own answer (AGT-13)', async () => {
    const sent: PolicyQuestion[] = []
    const client = (session: string) =>
      remotePolicy({ session, takesTools: false }, async (question) => {
        sent.push(question)
        return answer(question.session === 'one' ? 'a' : 'b')
      })
    const both = [client('one').generate(request, never), client('two').generate(request, never)]
    expect(await Promise.all(both)).toMatchObject([
      { text: 'a', stopReason: 'stop', usage: { promptTokens: 3, completionTokens: 2 } },
      { text: 'b' },
    ])
    expect(sent).toMatchObject([{ session: 'one', seed: 7, max_tokens: 5 }, { session: 'two' }])
  })

  it('fail as the policy fails: by a limit, by an error, by being cancelled, by the end of the worker (AGT-13)', async () => {
    const ended = (ask: Parameters<typeof remotePolicy>[1], signal = never) =>
      remotePolicy({ session: 's', takesTools: false }, ask)
        .generate(request, signal)
        .catch((error: unknown) => error)
    expect(limitOf(await ended(async () => ({ is_too_long: true })))).toBe('context')
    const broken = new EvsysError('BACKEND_FAILED', 'gone')
    expect(await ended(() => Promise.reject(broken))).toBe(broken)
    const cancelling = new AbortController()
    cancelling.abort(new Error('enough'))
    const cancelled = await ended(async (_, signal) => signal.throwIfAborted() ?? answer('late'), cancelling.signal)
    expect(cancelled).toMatchObject({ message: 'enough' })
  })
})
