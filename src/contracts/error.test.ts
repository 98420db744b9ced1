import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { ErrorCode, ErrorRecord, ErrorReport, RolloutError } from './error.ts'

const where = { file: 'experiments/focal.yaml', line: 14, col: 9, path: 'algorithm.kind' }
const error = {
  code: 'PLUGIN_UNKNOWN',
  message: 'no algorithm is called "focal_sf"',
  where,
  fix: 'did you mean "focal_sft"?',
} as const

describe('the document of a failed command', () => {
  it('is { errors: [{ code, message, where?: { file, line, col, path }, fix? }] } (CON-5)', () => {
    expect(ErrorReport.parse({ errors: [error] })).toEqual({ errors: [error] })
    expect(Object.keys(ErrorReport.shape)).toEqual(['errors'])
    expect(Object.keys(ErrorRecord.shape)).toEqual(['code', 'message', 'where', 'fix', 'pairs'])
    expect(Object.keys(ErrorRecord.shape.where.unwrap().shape)).toEqual(['file', 'line', 'col', 'path'])
  })

  it('needs no place and no fix, but at least one error (CON-5)', () => {
    const bare = { code: 'INTERNAL', message: 'x' }
    expect(ErrorReport.parse({ errors: [bare] })).toStrictEqual({ errors: [bare] })
    expect(ErrorReport.safeParse({ errors: [] }).success).toBe(false)
  })

  it.each([
    { ...error, code: 'NO_SUCH_CODE' },
    { ...error, stack: 'at x' },
    { ...error, where: { ...where, line: 0 } },
    { ...error, where: { ...where, col: 1.5 } },
    { ...error, where: { file: 'a.yaml' } },
    { code: 'INTERNAL' },
  ])('refuses %j (CON-5)', (wrong) => {
    expect(ErrorReport.safeParse({ errors: [wrong] }).success).toBe(false)
  })

  it('comes back from JSON as it was (CON-5)', () => {
    fc.assert(
      fc.property(arbitraryOf(ErrorReport), (report) => {
        expect(ErrorReport.parse(JSON.parse(JSON.stringify(report)))).toStrictEqual(report)
      }),
    )
  })
})

describe('ErrorCode', () => {
  it('names the boundary that was crossed, in capitals, each once (CON-5)', () => {
    expect(ErrorCode.options.filter((code) => !/^[A-Z]+(_[A-Z]+)*$/.test(code))).toEqual([])
    expect(new Set(ErrorCode.options).size).toBe(ErrorCode.options.length)
  })
})

describe('RolloutError', () => {
  it('says whether infrastructure failed (CON-5)', () => {
    expect(RolloutError.parse({ ...error, infra: true })).toEqual({ ...error, infra: true })
    expect(RolloutError.safeParse(error).success).toBe(false)
    expect(RolloutError.safeParse({ ...error, infra: true, retries: 2 }).success).toBe(false)
  })
})
