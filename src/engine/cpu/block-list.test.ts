import { describe, expect, it } from 'vitest'
import { BlockList } from './arena-runtime.ts'

describe('BlockList', () => {
  it('gives aligned places that do not overlap, and takes them back in any order (CPU-1)', () => {
    const blocks = new BlockList(1, 1024)
    const places = [1, 64, 65, 100].map((bytes) => blocks.alloc(bytes))
    expect(places).toEqual([64, 128, 192, 320])
    for (const index of [1, 3, 0, 2]) blocks.free(places[index] ?? 0)
    expect(blocks.alloc(960)).toBe(64)
  })

  it('fills the first gap that is large enough (CPU-1)', () => {
    const blocks = new BlockList(0, 640)
    const [a, , c] = [blocks.alloc(64), blocks.alloc(64), blocks.alloc(128), blocks.alloc(64)]
    blocks.free(a)
    blocks.free(c)
    expect([blocks.alloc(100), blocks.alloc(10)]).toEqual([c, a])
  })

  it('says what is missing, and refuses to free what it did not give (CPU-1)', () => {
    const blocks = new BlockList(0, 256)
    expect(() => blocks.alloc(300)).toThrow('no room for 320 bytes; 256 are free')
    const a = blocks.alloc(256)
    blocks.free(a)
    expect(() => blocks.free(a)).toThrow('nothing was allocated at 0')
  })
})
