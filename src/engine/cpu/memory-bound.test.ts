import { totalmem } from 'node:os'
import { expect, it } from 'vitest'
import { memoryBound } from './open-cpu-engine.ts'

const line = (value: string) => `Limit                     Soft Limit           Hard Limit           Units
Max data size             ${value}           4096000000           bytes
Max stack size            8388608              unlimited            bytes     `

it('is that of the process where it has one, else that of the machine (CPU-23)', () => {
  expect(memoryBound(() => line(String(2 ** 32)), 2)).toBe(Math.min(totalmem(), 3 * 2 ** 30 - 2 ** 26))
  expect(memoryBound(() => line(String(2 ** 32)), 64)).toBe(2 ** 30)
  expect(memoryBound(() => line('100000000'))).toBe(25_000_000)
  for (const text of [line('unlimited'), line('99999999999999999'), ''])
    expect(memoryBound(() => text)).toBe(totalmem())
})
