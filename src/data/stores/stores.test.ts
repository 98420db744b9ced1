import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { collect, streamOf } from '../../../tests/collect.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { OpenDataStore } from '../../contracts/index.ts'
import { inMemoryStore, localStore } from './stores.ts'

const folder = temporaryFolders()
const bytes = (...chunks: string[]) => streamOf(chunks.map((chunk) => Buffer.from(chunk)))
const text = async (store: OpenDataStore, path: string) => Buffer.concat(await collect(store.read(path))).toString()

describe.each([
  ['local', () => localStore.open(pluginContext(localStore, { root: folder() }))],
  ['in_memory', () => inMemoryStore.open(pluginContext(inMemoryStore))],
])('the data store %s', (_kind, open) => {
  it('reads back what was written, in chunks or none, and replaces it (PLG-6)', async () => {
    await using store = await open()
    await store.write('a/b/c.txt', bytes('one ', 'two'))
    expect(await text(store, 'a/b/c.txt')).toBe('one two')
    await store.write('a/b/c.txt', bytes())
    expect(await text(store, 'a/b/c.txt')).toBe('')
  })

  it('knows and lists its files, in order, by prefix (PLG-6)', async () => {
    await using store = await open()
    for (const path of ['b.txt', 'a/2', 'a/1', 'ab/3']) await store.write(path, bytes('x'))
    expect(await collect(store.list(''))).toEqual(['a/1', 'a/2', 'ab/3', 'b.txt'])
    expect(await collect(store.list('a/'))).toEqual(['a/1', 'a/2'])
    expect(await collect(store.list('a'))).toEqual(['a/1', 'a/2', 'ab/3'])
    expect(await collect(store.list('nothing'))).toEqual([])
    expect([await store.exists('a/1'), await store.exists('a'), await store.exists('a/1/x')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('keeps the old file when the new one breaks off (PLG-6)', async () => {
    await using store = await open()
    await store.write('f', bytes('old'))
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('the source broke')
    }
    await expect(store.write('f', broken())).rejects.toThrow('the source broke')
    expect(await text(store, 'f')).toBe('old')
    expect(await collect(store.list(''))).toEqual(['f'])
  })

  it.each(['../../x', '/etc/passwd', 'a/../../x', 'a//b', './a', 'a\\b', 'C:/x', '', 'a/\0'])(
    'refuses the path %j (PLG-6)',
    async (path) => {
      await using store = await open()
      await expect(collect(store.read(path))).rejects.toMatchObject({ code: 'DATA_READ' })
      await expect(store.write(path, bytes('x'))).rejects.toMatchObject({ code: 'DATA_READ' })
      await expect(store.exists(path)).rejects.toMatchObject({ code: 'DATA_READ' })
    },
  )

  it('says that a file is missing (PLG-6)', async () => {
    await using store = await open()
    await expect(text(store, 'none.txt')).rejects.toMatchObject({
      code: 'DATA_READ',
      message: expect.stringMatching(/no such file/),
    })
  })
})

describe('the data store local', () => {
  it('does not follow a link out of its folder, for reading, writing or listing (PLG-6)', async () => {
    const outside = folder()
    writeFileSync(join(outside, 'secret'), 'secret')
    const root = folder()
    symlinkSync(outside, join(root, 'link'))
    symlinkSync(join(outside, 'secret'), join(root, 'file'))
    await using store = await localStore.open(pluginContext(localStore, { root }))
    await expect(text(store, 'link/secret')).rejects.toThrow('link/secret leads out of the data store')
    await expect(text(store, 'file')).rejects.toMatchObject({ code: 'DATA_READ' })
    await expect(store.write('link/new', bytes('x'))).rejects.toMatchObject({ code: 'DATA_READ' })
    expect(existsSync(join(outside, 'new'))).toBe(false)
    expect(await collect(store.list(''))).toEqual([])
  })

  it('leaves no unfinished file when it is cancelled (PLG-6)', async () => {
    const root = folder()
    const controller = new AbortController()
    await using store = await localStore.open(pluginContext(localStore, { root }, { signal: controller.signal }))
    async function* endless() {
      for (let i = 0; ; i++) {
        if (i === 3) controller.abort(new Error('stop'))
        yield Buffer.from('x')
      }
    }
    await expect(store.write('big', endless())).rejects.toThrow('stop')
    expect(readdirSync(root)).toEqual([])
  })

  it('makes its folder when it first writes, and reads nothing before (PLG-6)', async () => {
    const root = join(folder(), 'yet', 'to', 'come')
    await using store = await localStore.open(pluginContext(localStore, { root }))
    expect(await collect(store.list(''))).toEqual([])
    expect(await store.exists('a')).toBe(false)
    await store.write('a', bytes('x'))
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('x')
  })

  it('refuses to read a folder (PLG-6)', async () => {
    const root = folder()
    mkdirSync(join(root, 'dir'))
    await using store = await localStore.open(pluginContext(localStore, { root }))
    await expect(text(store, 'dir')).rejects.toMatchObject({ code: 'DATA_READ' })
  })
})
