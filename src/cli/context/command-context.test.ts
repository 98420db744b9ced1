import { describe, expect, it } from 'vitest'
import { ErrorCode } from '../../contracts/index.ts'
import { exitCodeOf } from './command-context.ts'

describe('exitCodeOf', () => {
  it.each([
    ['wrong input', ['CONFIG_INVALID', 'PLUGIN_LOAD'], 2],
    ['a failure', ['FILE_FAILED'], 1],
    ['a failure among wrong input', ['CONFIG_INVALID', 'INTERNAL'], 1],
    ['an interruption among others', ['INTERNAL', 'INTERRUPTED', 'CLI_USAGE'], 130],
  ] as const)('tells %s (CLI-3)', (_name, codes, exit) => {
    expect(exitCodeOf(codes.map((code) => ({ code })))).toBe(exit)
  })

  it('knows every error code (CLI-3)', () => {
    for (const code of ErrorCode.options) expect([1, 2, 130]).toContain(exitCodeOf([{ code }]))
  })
})
