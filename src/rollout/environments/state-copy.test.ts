import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { removeDeepTree } from './remove-tree.ts'
import { copyIn, copyOut, emptyFolder, readStateFile, writeStateFile } from './state-copy.ts'

const newFolder = temporaryFolders()
const linux = needs('Linux', () => process.platform === 'linux' || `this is ${process.platform}`)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

function newState() {
  const base = newFolder()
  for (const name of ['root/app', 'root/logs', 'logs/verifier', 'trash'])
    mkdirSync(join(base, name), { recursive: true })
  const secret = join(newFolder(), 'secret.txt')
  writeFileSync(secret, 'secret of the host')
  const state = {
    places: [
      { target: '/', source: join(base, 'root') },
      { target: '/logs/verifier', source: join(base, 'logs/verifier') },
    ],
    trash: join(base, 'trash'),
    downloadBytes: 1000,
  }
  return { base, state, root: join(base, 'root'), secret, out: join(newFolder(), 'out') }
}

linux.describe('files of an environment', () => {
  it('reads and writes through links that stay inside, and none that would leave (HAR-23)', async () => {
    const { state, root, secret } = newState()
    writeFileSync(join(root, 'app/a.txt'), 'inside')
    symlinkSync('/app/a.txt', join(root, 'app/absolute'))
    symlinkSync('../app/../app/a.txt', join(root, 'app/relative'))
    symlinkSync('../../../../../../../../../../app', join(root, 'up'))
    symlinkSync(secret, join(root, 'app/secret'))
    symlinkSync(`../../../../../../../..${secret}`, join(root, 'app/climb'))
    symlinkSync('/app/loop', join(root, 'app/loop'))
    for (const path of ['/app/absolute', '/app/relative', '/up/a.txt', '/up/../app/a.txt', '//app/./a.txt']) {
      expect(text(await readStateFile(state, path))).toBe('inside')
    }
    for (const path of ['/app/secret', '/app/climb', '/app/loop', secret, '/app', '/app/../../../../etc/passwd']) {
      await expect(readStateFile(state, path)).rejects.toThrow()
    }
    for (const path of ['app/a.txt', '/a\0b', '/']) await expect(readStateFile(state, path)).rejects.toThrow()
  })

  it('never writes to what a link leads to, and replaces the link (HAR-23)', async () => {
    const { state, root, secret } = newState()
    symlinkSync(secret, join(root, 'app/x'))
    symlinkSync(join(secret, '..'), join(root, 'app/folder'))
    await writeStateFile(state, '/app/x', Buffer.from('new'))
    expect(readFileSync(secret, 'utf8')).toBe('secret of the host')
    expect(readFileSync(join(root, 'app/x'), 'utf8')).toBe('new')
    await writeStateFile(state, '/app/folder/y', Buffer.from('y')).catch(() => undefined)
    expect(existsSync(join(secret, '../y'))).toBe(false)
    await writeStateFile(state, '/deep/er/file', Buffer.from('z'))
    expect(readFileSync(join(root, 'deep/er/file'), 'utf8')).toBe('z')
  })

  it('finds a mounted folder whatever was put in its way (HAR-23)', async () => {
    const { base, state, root, secret } = newState()
    rmSync(join(root, 'logs'), { recursive: true })
    symlinkSync(join(secret, '..'), join(root, 'logs'))
    await writeStateFile(state, '/logs/verifier/reward.txt', Buffer.from('1'))
    expect(readFileSync(join(base, 'logs/verifier/reward.txt'), 'utf8')).toBe('1')
    symlinkSync('/logs/verifier/reward.txt', join(root, 'app/reward'))
    symlinkSync('/app/reward', join(base, 'logs/verifier/back'))
    expect(text(await readStateFile(state, '/logs/verifier/back'))).toBe('1')
  })

  it('uploads folders over what is there: modes and links as they are, planted links replaced (HAR-23)', async () => {
    const { state, root, secret } = newState()
    const source = newFolder()
    mkdirSync(join(source, 'sub'))
    writeFileSync(join(source, 'test.sh'), 'true')
    chmodSync(join(source, 'test.sh'), 0o755)
    writeFileSync(join(source, 'sub/data'), 'data')
    symlinkSync(secret, join(source, 'host'))
    symlinkSync(join(secret, '..'), join(root, 'tests'))
    await copyIn(state, source, '/tests')
    expect(lstatSync(join(root, 'tests')).isDirectory()).toBe(true)
    expect(existsSync(join(secret, '../test.sh'))).toBe(false)
    expect(statSync(join(root, 'tests/test.sh')).mode & 0o777).toBe(0o755)
    expect(readlinkSync(join(root, 'tests/host'))).toBe(secret)
    symlinkSync(secret, join(root, 'tests/sub/planted'))
    writeFileSync(join(source, 'sub/planted'), 'ours')
    writeFileSync(join(root, 'tests/kept'), 'kept')
    await copyIn(state, source, '/tests')
    expect(readFileSync(join(root, 'tests/sub/planted'), 'utf8')).toBe('ours')
    expect(readFileSync(secret, 'utf8')).toBe('secret of the host')
    expect(readdirSync(join(root, 'tests')).sort()).toEqual(['host', 'kept', 'sub', 'test.sh'])
    await copyIn(state, join(source, 'sub/data'), '/app/one/data')
    expect(readFileSync(join(root, 'app/one/data'), 'utf8')).toBe('data')
  })

  it('downloads files, and of links only what they lead to inside (HAR-42)', async () => {
    const { state, root, secret, out } = newState()
    mkdirSync(join(root, 'app/sub'), { recursive: true })
    writeFileSync(join(root, 'app/a.txt'), 'a')
    symlinkSync('a.txt', join(root, 'app/link'))
    symlinkSync(secret, join(root, 'app/host'))
    symlinkSync('..', join(root, 'app/sub/up'))
    const server = createServer().listen(join(root, 'app/pipe'))
    await once(server, 'listening')
    await copyOut(state, '/app', out)
    expect(readdirSync(out).sort()).toEqual(['a.txt', 'link', 'sub'])
    expect(lstatSync(join(out, 'link')).isFile()).toBe(true)
    expect(readdirSync(join(out, 'sub'))).toEqual([])
    await copyOut(state, '/app/link', join(out, 'one'))
    expect(readFileSync(join(out, 'one'), 'utf8')).toBe('a')
    await expect(copyOut(state, '/app/pipe', join(out, 'p'))).rejects.toThrow(/ENXIO|neither a file nor a folder/)
    server.close()
    writeFileSync(join(root, 'app/big'), Buffer.alloc(1001))
    await expect(copyOut(state, '/app', out)).rejects.toThrow(/larger than the 1000 bytes/)
    await expect(readStateFile(state, '/app/big')).rejects.toThrow(/larger than/)
  })

  it('empties folders of any depth and rights, and follows no link out of them (HAR-22)', async () => {
    const { base, state, root, secret } = newState()
    symlinkSync(join(secret, '..'), join(root, 'tests'))
    await emptyFolder(state, '/tests')
    expect(lstatSync(join(root, 'tests')).isDirectory()).toBe(true)
    expect(existsSync(secret)).toBe(true)
    symlinkSync(join(secret, '..'), join(base, 'logs/verifier/link'))
    writeFileSync(join(base, 'logs/verifier/reward.txt'), '1')
    await emptyFolder(state, '/logs/verifier', 0o777)
    expect(readdirSync(join(base, 'logs/verifier'))).toEqual([])
    expect(statSync(join(base, 'logs/verifier')).mode & 0o777).toBe(0o777)
    expect(existsSync(secret)).toBe(true)
    // Deeper than the longest path that the system takes.
    const dig = 'for (let i = 0; i < 180; i++) { fs.mkdirSync(process.argv[2]); process.chdir(process.argv[2]) }'
    execFileSync(process.execPath, [
      '-e',
      `process.chdir(process.argv[1]); ${dig}`,
      join(root, 'app'),
      'long-name-of-a-folder',
    ])
    chmodSync(join(root, 'app/long-name-of-a-folder'), 0)
    await emptyFolder(state, '/app')
    expect(readdirSync(join(root, 'app'))).toEqual([])
    await removeDeepTree(root, state.trash)
    expect(readdirSync(state.trash)).toEqual([])
    expect(existsSync(root)).toBe(false)
  })
})

describe('paths of an environment', () => {
  it('are absolute (HAR-23)', async () => {
    await expect(readStateFile({ places: [], trash: '', downloadBytes: 1 }, 'x')).rejects.toThrow(/is absolute/)
  })
})
