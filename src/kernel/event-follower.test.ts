import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BoundedQueue } from './event-follower.ts'

it('behaves like a list that loses its oldest item when full, and counts the loss', () => {
  const command = fc.oneof(fc.nat(), fc.constant('take' as const), fc.constant('clear' as const))
  fc.assert(
    fc.property(fc.array(command, { maxLength: 400 }), fc.integer({ min: 1, max: 60 }), (commands, capacity) => {
      const queue = new BoundedQueue<number>(capacity)
      let model: number[] = []
      let missed = 0
      for (const command of commands) {
        if (command === 'clear') {
          queue.clear()
          model = []
          missed = 0
        } else if (command === 'take') {
          const item = model.shift()
          expect(queue.take()).toEqual(item === undefined ? undefined : { item, missed })
          if (item !== undefined) missed = 0
        } else {
          expect(queue.push(command)).toBe(model.length < capacity)
          model.push(command)
          if (model.length > capacity) {
            model.shift()
            missed += 1
          }
        }
        expect(queue.size).toBe(model.length)
      }
    }),
  )
})

it('drops nothing without a bound, and keeps undefined as an item', () => {
  const queue = new BoundedQueue<number | undefined>(Number.POSITIVE_INFINITY)
  for (let i = 0; i < 100_000; i++) queue.push(i)
  queue.push(undefined)
  for (let i = 0; i < 100_000; i++) expect(queue.take()?.item).toBe(i)
  expect(queue.take()).toEqual({ item: undefined, missed: 0 })
  expect(queue.take()).toBeUndefined()
})

it.each([0, -1, Number.NaN])('refuses a capacity of %d', (capacity) => {
  expect(() => new BoundedQueue(capacity)).toThrow(RangeError)
})
