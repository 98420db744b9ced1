import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { ErrorRecord } from '../contracts/index.ts'
import { EvsysError, type Problem, toRecord } from './evsys-error.ts'

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
