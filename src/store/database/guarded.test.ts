import { expect, it } from 'vitest'
import { EvsysError } from '../../kernel/index.ts'
import { guarded } from './guarded.ts'

it('lets out our own errors as they are, and no others (STO-13)', async () => {
  const own = new EvsysError('STORE_MISSING', 'gone')
  const explain = (cause: unknown) => new EvsysError('STORE_FAILED', `explained: ${String(cause)}`, { cause })
  const safe = guarded(
    {
      label: 'x',
      value: async (n: number) => n + 1,
      ours: async () => Promise.reject(own),
      theirs: async () => Promise.reject(new TypeError('raw')),
      sync: () => {
        throw new RangeError('raw')
      },
      async [Symbol.asyncDispose]() {
        throw new Error('closing')
      },
    },
    { explain },
  )
  expect(safe.label).toBe('x')
  expect(await safe.value(1)).toBe(2)
  await expect(safe.ours()).rejects.toBe(own)
  await expect(safe.theirs()).rejects.toMatchObject({ code: 'STORE_FAILED', message: 'explained: TypeError: raw' })
  expect(() => safe.sync()).toThrow('explained: RangeError: raw')
  await expect(safe[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'STORE_FAILED' })
})
