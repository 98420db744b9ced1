import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../tests/scale.ts'
import { ByteBudget } from './byte-budget.ts'
import { expectPass, expectSample, retrieveFuture } from './retrieve-future.ts'
import { ServiceError } from './service-error.ts'

const signal = new AbortController().signal

describe('retrieveFuture', () => {
  it('ends with a result or a typed error, whatever the service answers (TNK-15)', async () => {
    const key = fc.constantFrom(
      'type',
      'status',
      'error',
      'category',
      'loss_fn_outputs',
      'sequences',
      'metrics',
      'queue_state',
    )
    const word = fc.constantFrom('try_again', 'complete_metadata', 'user', 'sample', 'active')
    const body = fc.oneof(
      fc
        .dictionary(key, fc.oneof(word, fc.jsonValue({ maxDepth: 2 })), { noNullPrototype: true })
        .map((value) => JSON.stringify(value)),
      fc.json({ maxDepth: 2 }),
      fc.uint8Array({ maxLength: 20 }),
    )
    const reply = fc.record({
      status: fc.constantFrom(200, 200, 200, 302, 400, 402, 404, 408, 410, 429, 500),
      type: fc.constantFrom('application/json', 'application/x-protobuf', 'text/html'),
      body,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { maxLength: 6 }), fc.boolean(), async (replies, samples) => {
        const left = [...replies]
        const transport = {
          send: async () => {
            const next = left.shift()
            const bytes =
              typeof next?.body === 'string' ? new TextEncoder().encode(next.body) : (next?.body ?? new Uint8Array())
            // Once its answers are used up the service is plain.
            return { status: next?.status ?? 404, headers: new Headers({ 'content-type': next?.type ?? '' }), bytes }
          },
        }
        const options = {
          transport,
          clock: { now: () => 0, sleep: async () => {} },
          signal,
          responses: new ByteBudget(10),
          onQueueState: () => {},
          roundTripMs: 1,
          billingPauseMs: () => 1,
          badRequestRetries: 3,
          retryForMs: 1000,
        }
        const asked = samples
          ? retrieveFuture({ requestId: 'r' }, expectSample, options)
          : retrieveFuture({ requestId: 'r' }, expectPass(false), options)
        const outcome: unknown = await asked.catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ServiceError)
      }),
      { numRuns: scaled(250) },
    )
  })
})

describe('ByteBudget', () => {
  it('lets in whoever comes while there is some left, and a large one alone (TNK-16)', async () => {
    const budget = new ByteBudget(10)
    const first = await budget.acquire(4, signal)
    const large = await budget.acquire(100, signal)
    const order: string[] = []
    const waiting = ['a', 'b'].map(async (name) => {
      const release = await budget.acquire(20, signal)
      order.push(name)
      release()
    })
    first()
    expect(order).toEqual([])
    large()
    large() // twice is once
    await Promise.all(waiting)
    expect(order).toEqual(['a', 'b'])
    expect(budget.leftBytes).toBe(10)
  })

  it('forgets whoever stops waiting (TNK-16)', async () => {
    const budget = new ByteBudget(1)
    const release = await budget.acquire(1, signal)
    const stop = new AbortController()
    const gone = budget.acquire(1, stop.signal)
    const next = budget.acquire(1, signal)
    stop.abort(new Error('enough'))
    await expect(gone).rejects.toThrow('enough')
    release()
    const last = await next
    last()
    expect(budget.leftBytes).toBe(1)
  })
})
