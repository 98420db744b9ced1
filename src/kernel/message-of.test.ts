import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageOf } from './message-of.ts'

describe('messageOf', () => {
  it.each([
    ['an error', new Error('no such file'), 'no such file'],
    ['an error without message', new RangeError(), 'RangeError'],
    ['a string', 'plain words', 'plain words'],
    ['nothing', undefined, 'undefined was thrown'],
    ['an empty string', '', 'no message was given'],
    ['a number', 42, '42 was thrown'],
    ['an object with a message', { message: 'from a library' }, 'from a library'],
    ['an object without one', { status: 500 }, '{ status: 500 } was thrown'],
    ['an error of another realm', runInNewContext('new Error("elsewhere")'), 'elsewhere'],
    [
      'an aggregate',
      new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')]),
      '::1 refused; 127.0.0.1 refused',
    ],
    ['an aggregate with words', new AggregateError([new Error('a'), new Error('a')], 'all failed'), 'all failed: a'],
  ])('says what %s says (KER-6)', (_what, cause, text) => {
    expect(messageOf(cause)).toBe(text)
  })

  it('leaves stack lines out of a message that holds them (KER-6)', () => {
    const stack = new Error('boom').stack ?? ''
    expect(stack).toMatch(/\n {4}at /)
    expect(messageOf(new Error(stack))).toBe('Error: boom')
    expect(messageOf('meet me at noon:\n  at the bridge')).toBe('meet me at noon:\n  at the bridge')
  })

  it('survives values that throw when they are read (KER-6)', () => {
    const trap = () => {
      throw new Error('trap')
    }
    expect(messageOf(new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap }))).toBe(
      'a value was thrown that cannot be read',
    )
    expect(
      messageOf({
        get message() {
          return trap()
        },
      }),
    ).toBe('a value was thrown that cannot be read')
  })

  it('bounds a dumped body without cutting a character in two', () => {
    const text = messageOf(new Error('😀'.repeat(100_000)))
    expect(text.length).toBeLessThan(2_100)
    expect(text).toMatch(/^(?:😀)+\.\.\. \(200000 characters\)$/u)
  })

  it('gives bounded, non-empty words for anything (KER-6)', () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withDate: true }),
        (value) => {
          const text = messageOf(value)
          expect(text.length).toBeGreaterThan(0)
          expect(text.length).toBeLessThan(2_100)
        },
      ),
    )
  })
})
