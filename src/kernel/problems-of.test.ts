import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ErrorReport } from '../contracts/index.ts'
import { EvsysError, toRecord } from './evsys-error.ts'
import { problemsOf } from './problems-of.ts'

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
