import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runServices } from '../../../tests/run-services.ts'
import { watchedRun } from '../../../tests/watched-run.ts'
import type { CallbackHooks } from '../../contracts/index.ts'
import { defineCallback } from '../../kernel/index.ts'
import { openLoopCallbacks } from './loop-callbacks.ts'

const callback = (kind: string, open: () => Promise<CallbackHooks & Partial<AsyncDisposable>>) =>
  defineCallback({ kind, summary: 'For a test.', params: z.strictObject({}), open })
const specs = ['first', 'second'].map((kind) => ({ kind, params: {} }))
const run = watchedRun('nowhere')

describe('callbacks', () => {
  it('hear a hook one after another, as methods of what they opened (LAB-51)', async () => {
    const heard: string[] = []
    const hooks = (name: string) => async () => ({
      name,
      async onRunStart() {
        await Promise.resolve()
        heard.push(this.name)
      },
    })
    const services = await runServices([callback('first', hooks('first')), callback('second', hooks('second'))])
    await using callbacks = await openLoopCallbacks(specs, services)
    await callbacks.call('onRunStart', run.scope)
    await callbacks.call('onTrainEnd', run.at(0), [])
    expect(heard).toEqual(['first', 'second'])
  })

  it('that cannot be opened are named, and those before them are closed (LAB-51)', async () => {
    const closed: string[] = []
    const services = await runServices([
      callback('first', async () => ({ [Symbol.asyncDispose]: async () => void closed.push('first') })),
      callback('second', async () => Promise.reject(new Error('no place'))),
    ])
    await expect(openLoopCallbacks(specs, services)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'callback "second", open: no place',
    })
    expect(closed).toEqual(['first'])
  })

  it('that fail to close are told of (LAB-51)', async () => {
    const services = await runServices([
      callback('first', async () => ({ [Symbol.asyncDispose]: async () => Promise.reject(new Error('stuck')) })),
      callback('second', async () => ({})),
    ])
    const callbacks = await openLoopCallbacks(specs, services)
    await callbacks[Symbol.asyncDispose]()
    expect(services.logged).toEqual(['warn callback "first" failed to close: stuck'])
  })
})
