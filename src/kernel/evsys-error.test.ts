import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ErrorRecord, ErrorReport } from '../contracts/index.ts'
import { boundary, EvsysError, messageOf, type Problem, problemsOf, toRecord } from './evsys-error.ts'

const where = { file: 'a.yaml', line: 2, col: 3, path: 'run.model' }

describe('EvsysError', () => {
  it('carries code, place, fix and cause (KER-6)', () => {
    const cause = new Error('disk')
    const error = new EvsysError('CONFIG_READ', 'cannot read', { where, fix: 'look', cause, retryable: true })
    expect(error).toMatchObject({ code: 'CONFIG_READ', message: 'cannot read', where, fix: 'look', retryable: true })
    expect(error.cause).toBe(cause)
    expect(error.name).toBe('EvsysError')
    expect(error).toBeInstanceOf(Error)
    expect(new EvsysError('INTERNAL', 'x').retryable).toBe(false)
    expect('cause' in new EvsysError('INTERNAL', 'x')).toBe(false)
  })

  it('keeps a cause that is undefined or null (KER-6)', () => {
    expect('cause' in new EvsysError('INTERNAL', 'x', { cause: undefined })).toBe(true)
    expect(new EvsysError('INTERNAL', 'x', { cause: null }).cause).toBeNull()
  })

  it('is recognised when another copy of the module made it (KER-6)', async () => {
    const here = pathToFileURL(`${import.meta.dirname}/evsys-error.ts`).href
    vi.resetModules()
    const copy: typeof import('./evsys-error.ts') = await import(/* @vite-ignore */ here)
    expect(copy.EvsysError).not.toBe(EvsysError)
    const theirs = new copy.EvsysError('DATA_READ', 'theirs')
    expect(theirs instanceof EvsysError).toBe(false)
    expect(EvsysError.is(theirs)).toBe(true)
    expect(copy.EvsysError.is(new EvsysError('DATA_READ', 'ours'))).toBe(true)
  })

  it.each([
    ['a plain error', new Error('x')],
    ['null', null],
    ['undefined', undefined],
    ['a string', 'EvsysError'],
    ['the look of one without the brand', { code: 'INTERNAL', message: 'x', problems: [] }],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          get() {
            throw new Error('trap')
          },
        },
      ),
    ],
  ])('is not %s (KER-6)', (_what, value) => {
    expect(EvsysError.is(value)).toBe(false)
  })

  it('becomes a record that the contract accepts, without source text or absent keys (KER-6)', () => {
    const excerpt = { text: 'model: x', line: 2, col: 3, length: 1 }
    const full = new EvsysError('CONFIG_INVALID', 'm', { where, fix: 'f', excerpt })
    expect(ErrorRecord.parse(full.toRecord())).toEqual({ code: 'CONFIG_INVALID', message: 'm', where, fix: 'f' })
    expect(Object.keys(new EvsysError('INTERNAL', 'm').toRecord())).toEqual(['code', 'message'])
    expect(full.problems).toEqual([{ code: 'CONFIG_INVALID', message: 'm', where, fix: 'f', excerpt }])
    expect(full.problems.map(toRecord)).toEqual([full.toRecord()])
  })
})

describe('EvsysError.many', () => {
  const twelve = Array.from({ length: 12 }, (_, i): Problem => ({ code: 'CONFIG_INVALID', message: `problem ${i}` }))

  it('throws all problems of a file as one error (KER-6)', () => {
    const error = EvsysError.many(twelve)
    expect(error.problems).toEqual(twelve)
    expect(error.code).toBe('CONFIG_INVALID')
    expect(error.message).toBe('problem 0 (and 11 more problems)')
    expect(error.toRecord()).toEqual(twelve[0])
    expect(EvsysError.is(error)).toBe(true)
  })

  it('flattens errors that carry many themselves (KER-6)', () => {
    const nested = EvsysError.many([EvsysError.many(twelve.slice(0, 2)), new EvsysError('DATA_READ', 'last')])
    expect(nested.problems.map((each) => each.message)).toEqual(['problem 0', 'problem 1', 'last'])
  })

  it('of one problem is that problem (KER-6)', () => {
    const cause = new Error('why')
    const error = EvsysError.many([{ code: 'DATA_READ', message: 'gone', where, fix: 'f' }], { cause })
    expect(error).toMatchObject({ message: 'gone', where, fix: 'f', cause })
  })

  it('of nothing is a mistake of the caller', () => {
    expect(() => EvsysError.many([])).toThrow(TypeError)
  })

  it('keeps its problems when the given ones change later', () => {
    const mine: Problem[] = [{ code: 'DATA_READ', message: 'before' }]
    const error = EvsysError.many(mine)
    const [first] = mine
    if (first !== undefined) first.message = 'after'
    mine.pop()
    expect(error.problems).toEqual([{ code: 'DATA_READ', message: 'before' }])
  })
})

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

const brand = Symbol.for('evsys.error')

describe('problemsOf', () => {
  it('lists every problem of our errors, with source text (KER-6)', () => {
    const excerpt = { text: 'x', line: 1, col: 1, length: 1 }
    const one = new EvsysError('DATA_READ', 'a', { excerpt, fix: 'f' })
    expect(problemsOf(one)).toEqual([{ code: 'DATA_READ', message: 'a', fix: 'f', excerpt }])
    expect(problemsOf(EvsysError.many([one, new EvsysError('CONFIG_SET', 'b')]))).toHaveLength(2)
  })

  it('makes one INTERNAL problem of anything else, without its stack (KER-6)', () => {
    const error = new Error('boom')
    expect(problemsOf(error)).toEqual([{ code: 'INTERNAL', message: 'boom' }])
    expect(problemsOf('text')).toEqual([{ code: 'INTERNAL', message: 'text' }])
    expect(JSON.stringify(problemsOf(new Error(error.stack)))).not.toContain('    at ')
  })

  it.each([
    ['no problems', { [brand]: true, message: 'm' }],
    ['an empty list', { [brand]: true, message: 'm', problems: [] }],
    ['a code from a newer version', { [brand]: true, problems: [{ code: 'QUANTUM_FAILED', message: 'm' }] }],
    [
      'a place without numbers',
      { [brand]: true, problems: [{ code: 'DATA_READ', message: 'm', where: { file: 'f' } }] },
    ],
    ['a problem that is null', { [brand]: true, message: 'm', problems: [null] }],
  ])('does not trust the brand: an error with %s is INTERNAL (KER-6)', (_what, error) => {
    expect(problemsOf(error)).toEqual([{ code: 'INTERNAL', message: 'm' }])
  })

  it('drops source text of a wrong shape', () => {
    const error = { [brand]: true, problems: [{ code: 'DATA_READ', message: 'm', excerpt: { text: 1 } }] }
    expect(problemsOf(error)).toEqual([{ code: 'DATA_READ', message: 'm' }])
  })

  it('gives a valid report for anything that can be thrown (KER-6)', () => {
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (value, branded) => {
        const thrown = branded ? { [brand]: true, problems: value } : value
        ErrorReport.parse({ errors: problemsOf(thrown).map(toRecord) })
      }),
    )
  })
})

const never = new AbortController().signal

describe('boundary', () => {
  it('returns what the work returns', async () => {
    await expect(boundary('PLUGIN_FAILED', 'x', never, async () => 7)).resolves.toBe(7)
  })

  it('attributes an ordinary error and keeps it as the cause (KER-6)', async () => {
    const cause = new TypeError('row.query is undefined')
    const work = boundary('PLUGIN_FAILED', 'transform "dedupe"', never, () => Promise.reject(cause))
    await expect(work).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'transform "dedupe": row.query is undefined',
      cause,
    })
  })

  it('attributes what is thrown before a promise is made (KER-6)', async () => {
    const work = boundary('PLUGIN_FAILED', 'x', never, () => {
      throw 'early'
    })
    await expect(work).rejects.toMatchObject({ code: 'PLUGIN_FAILED', message: 'x: early' })
  })

  it('passes our own errors on unchanged (KER-6)', async () => {
    const inner = new EvsysError('DATA_READ', 'inner')
    await expect(boundary('PLUGIN_FAILED', 'x', never, () => Promise.reject(inner))).rejects.toBe(inner)
  })

  it('does not call a cancelled call a failure (KER-6)', async () => {
    const control = new AbortController()
    const reason = new Error('stop')
    const work = boundary('PLUGIN_FAILED', 'x', control.signal, async () => {
      control.abort(reason)
      control.signal.throwIfAborted()
    })
    await expect(work).rejects.toBe(reason)
  })
})
