import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProject } from './load-experiment.ts'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'evsys-project-')))
  await mkdir(join(root, 'a/b/c'), { recursive: true })
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

describe('findProject', () => {
  it('finds the nearest folder with .evsys above any package (CFG-16)', async () => {
    await mkdir(join(root, 'a/.evsys'))
    await writeFile(join(root, 'a/b/package.json'), '{}')
    expect(await findProject(join(root, 'a/b/c'))).toBe(join(root, 'a'))
  })

  it('takes plugins or a package for a project that has not run yet (CFG-16)', async () => {
    await writeFile(join(root, 'a/package.json'), '{}')
    expect(await findProject(join(root, 'a/b/c'))).toBe(join(root, 'a'))
    await mkdir(join(root, 'a/b/src/plugins'), { recursive: true })
    expect(await findProject(join(root, 'a/b/c'))).toBe(join(root, 'a/b'))
  })

  it('takes no file for a folder, and no folder for a file (CFG-16)', async () => {
    await writeFile(join(root, 'a/b/.evsys'), '')
    await mkdir(join(root, 'a/b/package.json'))
    await mkdir(join(root, 'a/.evsys'))
    expect(await findProject(join(root, 'a/b/c'))).toBe(join(root, 'a'))
  })

  it('stays where it is when nothing above looks like a project (CFG-16)', async () => {
    expect(await findProject(join(root, 'a/missing'))).toBe(join(root, 'a/missing'))
  })
})
