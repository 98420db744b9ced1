import { describe, expect, it } from 'vitest'
import type { ToWorker } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { limitOf } from '../../rollout/index.ts'
import { createPolicyQuestions } from './policy-questions.ts'

const request = { messages: [{ role: 'user' as const, content: 'go' }], seed: 7, maxTokens: 5, temperature: 1 }
const answer = (text: string) => ({
  ...{ text, stop_reason: 'stop' as const },
  ...{ prompt_tokens: 3, completion_tokens: 2, latency_s: 0.1 },
})
const never = new AbortController().signal

function open() {
  const sent: ToWorker[] = []
  return { sent, questions: createPolicyQuestions((message) => sent.push(message)) }
}

describe('questions to the policy of a worker', () => {
  it('reach it in words, and each gets its own answer, in any order (AGT-13)', async () => {
    const { sent, questions } = open()
    const client = questions.client(4, 'one')
    const both = [client.generate(request, never), questions.client(4, 'two').generate(request, never)]
    expect(sent).toMatchObject([
      { type: 'ask', request: 4, question: 1, session: 'one', seed: 7, max_tokens: 5 },
      { type: 'ask', request: 4, question: 2, session: 'two' },
    ])
    questions.take({ type: 'answer', question: 2, answer: answer('b') })
    questions.take({ type: 'answer', question: 1, answer: answer('a') })
    questions.take({ type: 'answer', question: 1, answer: answer('again') })
    expect(await Promise.all(both)).toMatchObject([
      { text: 'a', stopReason: 'stop', usage: { promptTokens: 3, completionTokens: 2 } },
      { text: 'b' },
    ])
  })

  it('fail as the policy fails: by a limit, by an error, by being cancelled, by the end of the worker (AGT-13)', async () => {
    const { sent, questions } = open()
    const client = questions.client(1, 's')
    const ended = (work: Promise<unknown>) => work.catch((error: unknown) => error)
    const long = ended(client.generate(request, never))
    const error = new EvsysError('BUDGET_EXCEEDED', 'too long').toRecord()
    questions.take({ type: 'no_answer', question: 1, error, is_too_long: true })
    expect(limitOf(await long)).toBe('context')
    const broken = ended(client.generate(request, never))
    questions.take({ type: 'no_answer', question: 2, error: { code: 'BACKEND_FAILED', message: 'gone' } })
    expect(await broken).toMatchObject({ code: 'BACKEND_FAILED', message: 'gone' })
    const cancelling = new AbortController()
    const cancelled = ended(client.generate(request, cancelling.signal))
    cancelling.abort(new Error('enough'))
    expect(await cancelled).toMatchObject({ message: 'enough' })
    questions.take({ type: 'answer', question: 3, answer: answer('late') })
    const last = ended(client.generate(request, never))
    questions.close(new EvsysError('INTERRUPTED', 'the worker is gone'))
    expect(await last).toMatchObject({ code: 'INTERRUPTED' })
    expect(await ended(client.generate(request, never))).toMatchObject({ code: 'INTERRUPTED' })
    expect(sent).toHaveLength(4)
  })
})
