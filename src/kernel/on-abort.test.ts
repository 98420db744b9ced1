import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { onAbort } from './on-abort.ts'

it('calls once at the abort, at once when it already happened, and never after it was told to stop', () => {
  const control = new AbortController()
  const calls: string[] = []
  onAbort(control.signal, () => calls.push('listened'))
  const stop = onAbort(control.signal, () => calls.push('stopped'))
  stop()
  expect(getEventListeners(control.signal, 'abort')).toHaveLength(1)
  control.abort()
  onAbort(control.signal, () => calls.push('late'))
  expect(calls).toEqual(['listened', 'late'])
})

it('lets many wait on one signal without a warning', async () => {
  const warnings: Error[] = []
  const collect = (warning: Error) => warnings.push(warning)
  process.on('warning', collect)
  const { signal } = new AbortController()
  const stops = Array.from({ length: 100 }, () => onAbort(signal, () => {}))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', collect)
  for (const stop of stops) stop()
  expect(warnings).toEqual([])
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
