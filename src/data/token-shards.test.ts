import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import type { Rendered } from '../contracts/index.ts'
import { encodeShard, openShard, openTokenShards, type TokenShardsOptions } from './token-shards.ts'

const folder = temporaryFolders()
const rendered = (i: number): Rendered => ({
  tokens: Int32Array.from({ length: i % 5 }, (_, j) => i * 10 + j),
  message: Int32Array.from({ length: i % 5 }, (_, j) => j - 1),
  produced: Uint8Array.from({ length: i % 5 }, (_, j) => j % 2),
})
const madeOf = { data: 'd', renderer: 'r', tokenizer: 't' }

function open(dir: string, changes: Partial<TokenShardsOptions> = {}) {
  const asked: string[] = []
  const options: TokenShardsOptions = {
    dir,
    madeOf,
    rows: 25,
    shardRows: 4,
    parallel: 3,
    signal: new AbortController().signal,
    async render(from, to) {
      asked.push(`${from}-${to}`)
      return Array.from({ length: to - from }, (_, i) => rendered(from + i))
    },
    ...changes,
  }
  return openTokenShards(options).then((shards) => ({ shards, asked }))
}

describe('shards of tokens', () => {
  it('give back what was rendered, made once and in order (DATA-13)', async () => {
    const dir = folder()
    for (const isHit of [false, true]) {
      const { shards, asked } = await open(dir)
      using held = shards
      expect([held.isHit, held.rows, asked.length]).toEqual([isHit, 25, isHit ? 0 : 7])
      for (let i = 24; i >= 0; i--) expect(held.at(i)).toEqual(rendered(i))
      expect(() => held.at(25)).toThrow(RangeError)
    }
  })

  it('are made anew for other rows, another renderer or another tokenizer (DATA-13)', async () => {
    const dir = folder()
    const others = [{}, { data: 'D' }, { renderer: 'R' }, { tokenizer: 'T' }]
    for (const other of others) {
      const { shards } = await open(dir, { madeOf: { ...madeOf, ...other } })
      using held = shards
      expect(held.isHit).toBe(false)
    }
    expect(readdirSync(dir)).toHaveLength(others.length)
  })

  it('are rendered several at a time (DATA-13)', async () => {
    let begun = 0
    let meet = () => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    const { shards } = await open(folder(), {
      async render(from, to) {
        if (++begun === 3) meet()
        await met // never, unless three are under way together
        return Array.from({ length: to - from }, (_, i) => rendered(from + i))
      },
    })
    using held = shards
    expect([begun, held.rows]).toEqual([7, 25])
  })

  it('that were altered are never used; a failure keeps nothing (DATA-13)', async () => {
    const dir = folder()
    const made = await open(dir)
    made.shards[Symbol.dispose]()
    const [key = ''] = readdirSync(dir)
    const file = join(dir, key, '000001.bin')
    const bytes = readFileSync(file)
    bytes[bytes.length - 1] = 9
    writeFileSync(file, bytes)
    const again = await open(dir)
    using held = again.shards
    expect([held.isHit, held.at(7)]).toEqual([false, rendered(7)])
    const failing = folder()
    await expect(open(failing, { render: () => Promise.reject(new Error('no template')) })).rejects.toThrow(
      'no template',
    )
    expect(readdirSync(failing)).toEqual([])
  })

  it('hold any conversations, and files that are none are refused (DATA-13)', () => {
    const dir = folder()
    const tokens = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 9 })
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 9 }), (rows) => {
        const all = rows.map(
          (each): Rendered => ({
            tokens: Int32Array.from(each),
            message: new Int32Array(each.length).fill(-1),
            produced: new Uint8Array(each.length).fill(1),
          }),
        )
        writeFileSync(join(dir, 'x'), encodeShard(all))
        using shard = openShard(join(dir, 'x'))
        expect(Array.from({ length: shard.count }, (_, i) => shard.at(i))).toEqual(all)
      }),
    )
    for (const bytes of [Buffer.alloc(8), encodeShard([rendered(4)]).subarray(0, -1), Buffer.alloc(0)]) {
      writeFileSync(join(dir, 'x'), bytes)
      expect(() => openShard(join(dir, 'x'))).toThrow('is no whole shard of tokens')
    }
  })
})
