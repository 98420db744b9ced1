import { expect, it } from 'vitest'
import { claimMemory } from './wasm-runtime.ts'

const atMost = (most: number) => (bytes: number) => {
  if (bytes > most) throw new Error(`${bytes} are too many`)
  return bytes
}

it('claims what it is asked for, or less where so much cannot be had (CPU-28)', () => {
  expect(claimMemory(2 ** 30, atMost(2 ** 31))).toEqual({ claimed: 2 ** 30, bytes: 2 ** 30 })
  const { claimed, bytes } = claimMemory(2 ** 32, atMost(2 ** 31))
  expect(claimed).toBe(bytes)
  expect(bytes).toBeLessThanOrEqual(2 ** 31)
  expect(bytes).toBeGreaterThan(2 ** 30)
  expect(bytes % 65536).toBe(0)
})

it('tells of the first try when hardly anything can be had (CPU-28)', () => {
  expect(() => claimMemory(2 ** 32, atMost(2 ** 20))).toThrow(`${2 ** 32} are too many`)
})
