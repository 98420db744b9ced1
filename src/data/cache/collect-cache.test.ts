import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { rowRequest } from '../../../tests/row-request.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { collectCache, rowCacheFolder } from './cache-entry.ts'
import { openRows } from './open-rows.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

describe('collecting the cache', () => {
  it('removes what was not used for a while, and nothing else (DATA-16)', async () => {
    const projectDir = folder()
    const cacheDir = rowCacheFolder(projectDir)
    const path = join(projectDir, 'train.jsonl')
    writeFileSync(path, '{"messages":[{"role":"user","content":"hi"}]}\n')
    const open = (transforms: object[]) =>
      openRows(rowRequest({ path, transforms }, { format: 'chat_messages', cacheDir, projectDir }))
    const keys = [(await open([])).key ?? '', (await open([{ kind: 'identity' }])).key ?? '']
    const old = new Date('2020-01-01')
    for (const key of keys) utimesSync(join(cacheDir, key, 'manifest.json'), old, old)
    await collect((await open([])).rows()) // used again
    const collected = await collectCache(projectDir, { before: '2021-01-01T00:00:00.000Z', signal })
    expect(collected).toMatchObject({ entries: 1, bytes: expect.any(Number) })
    expect(collected.bytes).toBeGreaterThan(100)
    expect(readdirSync(cacheDir)).toEqual([keys[0]])
    expect((await open([{ kind: 'identity' }])).isHit).toBe(false)
    expect(await collectCache(folder(), { before: '2021-01-01T00:00:00.000Z', signal })).toEqual({
      entries: 0,
      bytes: 0,
    })
  })
})
