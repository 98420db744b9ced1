import { describe, expect, it } from 'vitest'
import { boundary } from './boundary.ts'
import { EvsysError } from './evsys-error.ts'

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
