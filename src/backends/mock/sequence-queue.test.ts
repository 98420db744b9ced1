import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SequenceQueue } from './sequence-queue.ts'

describe('SequenceQueue', () => {
  it('runs in the order of the numbers, one at a time, however they arrive (PLG-14)', async () => {
    const orders = fc.integer({ min: 1, max: 8 }).chain((n) =>
      fc.shuffledSubarray(
        Array.from({ length: n }, (_, i) => i + 1),
        { minLength: n },
      ),
    )
    await fc.assert(
      fc.asyncProperty(orders, async (arrivals) => {
        const queue = new SequenceQueue()
        const log: string[] = []
        const results = await Promise.all(
          arrivals.map((seq) =>
            queue.submit(seq, async () => {
              log.push(`begin ${seq}`)
              await Promise.resolve()
              log.push(`end ${seq}`)
              return seq * 10
            }),
          ),
        )
        expect(results).toEqual(arrivals.map((seq) => seq * 10))
        expect(log).toEqual(arrivals.flatMap((_, i) => [`begin ${i + 1}`, `end ${i + 1}`]))
      }),
    )
  })

  it('goes on after a failure (PLG-14)', async () => {
    const queue = new SequenceQueue()
    const failing = queue.submit(1, async () => {
      throw new Error('first')
    })
    const next = queue.submit(2, async () => 'second')
    await expect(failing).rejects.toThrow('first')
    expect(await next).toBe('second')
  })

  it.each([0, -1, 1.5, Number.NaN])('refuses the number %d (PLG-14)', async (seq) => {
    await expect(new SequenceQueue().submit(seq, async () => 1)).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
  })

  it('refuses a number that was used, waiting or done (PLG-14)', async () => {
    const queue = new SequenceQueue()
    const waiting = queue.submit(2, async () => 2)
    await expect(queue.submit(2, async () => 3)).rejects.toThrow('seq 2 was sent before')
    await queue.submit(1, async () => 1)
    await expect(queue.submit(1, async () => 4)).rejects.toThrow('seq 1 was sent before')
    expect(await waiting).toBe(2)
  })

  it('ends what waits when it is closed (PLG-14)', async () => {
    const queue = new SequenceQueue()
    const waiting = queue.submit(2, async () => 2)
    queue.close(new Error('closed'))
    await expect(waiting).rejects.toThrow('closed')
    await expect(queue.submit(1, async () => 1)).rejects.toThrow('closed')
  })
})
