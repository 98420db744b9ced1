import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { resolveModelFolder } from './resolve-model-folder.ts'

const folder = temporaryFolders()
const commit = 'a'.repeat(40)
const other = 'b'.repeat(40)

function write(path: string, text = '{}'): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function hubCache({ snapshots = [commit], main = commit as string | null } = {}): string {
  const home = folder()
  const repository = join(home, 'hub', 'models--acme--small')
  for (const snapshot of snapshots) {
    write(join(repository, 'blobs', `config-${snapshot}`))
    write(join(repository, 'snapshots', snapshot, 'tokenizer.json'))
    symlinkSync(`../../blobs/config-${snapshot}`, join(repository, 'snapshots', snapshot, 'config.json'))
  }
  if (main !== null) write(join(repository, 'refs', 'main'), `${main}\n`)
  write(join(repository, 'refs', 'v1'), other)
  return home
}

const missing = expect.objectContaining({ code: 'MODEL_MISSING' })

describe('resolveModelFolder', () => {
  it('finds a folder of the project, before all else (MOD-20)', async () => {
    const project = folder()
    for (const name of ['models/mine', 'acme/small']) {
      write(join(project, name, 'config.json'))
      write(join(project, name, 'tokenizer.json'))
    }
    const env = { HF_HOME: hubCache() }
    for (const name of ['models/mine', './models/mine', 'acme/small', join(project, 'models/mine')]) {
      const found = await resolveModelFolder(name, { project, env })
      expect(found).toEqual({ folder: join(project, name.replace(project, '')), source: 'folder' })
    }
    rmSync(join(project, 'models/mine/tokenizer.json'))
    await expect(resolveModelFolder('models/mine', { project, env })).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringContaining('holds no tokenizer.json'),
    })
    const found = await resolveModelFolder('models/mine', { project, env, files: ['config.json'] })
    expect(found.source).toBe('folder')
  })

  it('finds what Hugging Face tools have downloaded, by branch, tag or commit (MOD-20)', async () => {
    const home = hubCache({ snapshots: [commit, other] })
    const at = (id: string) => join(home, 'hub', 'models--acme--small', 'snapshots', id)
    const project = folder()
    const find = (revision?: string, env: Record<string, string> = { HF_HOME: home }) =>
      resolveModelFolder('acme/small', { project, env, ...(revision === undefined ? {} : { revision }) })
    expect(await find()).toEqual({ folder: at(commit), source: 'hub', commit })
    expect(await find('v1')).toMatchObject({ commit: other })
    expect(await find(other)).toMatchObject({ folder: at(other) })
    expect(await find('main', { HF_HUB_CACHE: join(home, 'hub') })).toMatchObject({ folder: at(commit) })
    expect(await find('main', { HUGGINGFACE_HUB_CACHE: join(home, 'hub') })).toMatchObject({ folder: at(commit) })
    await expect(find('v2')).rejects.toEqual(missing)
    await expect(find('c'.repeat(40))).rejects.toEqual(missing)
    rmSync(join(at(commit), 'config.json'))
    await expect(find()).rejects.toMatchObject({ code: 'MODEL_INVALID' })
  })

  it('follows XDG_CACHE_HOME and HOME to the cache (MOD-20)', async () => {
    const base = folder()
    const home = join(base, '.cache', 'huggingface')
    const repository = join(home, 'hub', 'models--gpt2')
    for (const file of ['config.json', 'tokenizer.json']) write(join(repository, 'snapshots', commit, file))
    write(join(repository, 'refs', 'main'), commit)
    for (const env of [{ HOME: base }, { XDG_CACHE_HOME: join(base, '.cache') }]) {
      expect(await resolveModelFolder('gpt2', { project: folder(), env })).toMatchObject({ source: 'hub', commit })
    }
  })

  it('says how to get a model that is not here (MOD-21)', async () => {
    const project = folder()
    const env = { HF_HOME: folder() }
    await expect(resolveModelFolder('acme/large', { project, env, revision: 'v1' })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
      fix: expect.stringContaining('`hf download acme/large --revision v1`'),
    })
    await expect(resolveModelFolder('./gone', { project, env })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
      message: expect.stringContaining(join(project, 'gone')),
    })
  })

  it.each(['', '..', '../x', '/', 'a/../../b', 'a/b/c', 'x\0', '..%2f', 'a//b', 'a'.repeat(5000)])(
    'no name leads out of the cache: %j (MOD-21)',
    async (name) => {
      const env = { HF_HOME: folder() }
      await expect(resolveModelFolder(name, { project: join(folder(), 'p'), env })).rejects.toMatchObject({
        code: expect.stringMatching(/^MODEL_/),
      })
    },
  )

  it.each(['../../x', '/etc', '', 'a\0b', '-'.repeat(500)])(
    'no revision leads out of the cache: %j (MOD-21)',
    async (revision) => {
      const env = { HF_HOME: hubCache() }
      await expect(resolveModelFolder('acme/small', { project: folder(), env, revision })).rejects.toEqual(missing)
    },
  )

  it('a reference that names no commit is an error (MOD-21)', async () => {
    const env = { HF_HOME: hubCache({ main: '../../../../etc' }) }
    await expect(resolveModelFolder('acme/small', { project: folder(), env })).rejects.toMatchObject({
      code: 'MODEL_INVALID',
    })
    const without = { HF_HOME: hubCache({ main: null }) }
    await expect(resolveModelFolder('acme/small', { project: folder(), env: without })).rejects.toEqual(missing)
  })
})
