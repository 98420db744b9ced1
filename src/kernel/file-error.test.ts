import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { EvsysError } from './evsys-error.ts'
import { fileError, systemCode } from './file-error.ts'

describe('fileError', () => {
  it('says what failed, why in words, and what to do (KER-6)', async () => {
    const cause: unknown = await readFile('/nowhere/at/all').catch((error: unknown) => error)
    expect(fileError('read', '/nowhere/at/all', cause)).toMatchObject({
      code: 'FILE_FAILED',
      message: 'cannot read /nowhere/at/all: no such file or folder',
      fix: 'check the spelling, and create the folder if it is missing.',
      cause,
    })
  })

  it('keeps the words of a failure that it does not know', () => {
    const error = fileError('read', 'f', new Error('strange'))
    expect(error.message).toBe('cannot read f: strange')
    expect(error.fix).toMatch(/\.$/)
    expect(fileError('read', 'f', Object.assign(new Error('odd'), { code: 'toString' })).message).toBe(
      'cannot read f: odd',
    )
  })
})

describe('systemCode', () => {
  it('is the code of the system, also below our own errors', () => {
    const cause = Object.assign(new Error('x'), { code: 'ENOSPC' })
    expect(systemCode(cause)).toBe('ENOSPC')
    expect(systemCode(new EvsysError('FILE_FAILED', 'm', { cause }))).toBe('ENOSPC')
    expect([undefined, null, 'ENOENT', {}, { code: 5 }].map(systemCode)).toEqual(Array(5).fill(undefined))
  })
})
