import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { leftToFull, nodeDependent } from '../scripts/node-dependent.mjs'
import { globPattern, unitTestFiles } from './test-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const testFiles = unitTestFiles()
const globs = [...nodeDependent, ...leftToFull].flatMap(({ files }) => files)
const patterns = globs.map(globPattern)

describe('the tests that run on every Node version in CI', () => {
  it('are chosen by globs that find something (REPO-5)', () => {
    expect(globs.filter((_, i) => !testFiles.some((file) => patterns[i]?.test(file)))).toEqual([])
  })

  it('hold every file that starts processes, threads, servers or machines, or say why not (REPO-5)', () => {
    const ownUse = /from 'node:(child_process|worker_threads|https?|net|stream|zlib|module|vm)/
    const byOthers = /from '[^']*\/(start-child|run-process|run-command|tinker-double)\.ts'/
    const uses = (file: string) => {
      const text = readFileSync(join(root, file), 'utf8')
      return ownUse.test(text) || byOthers.test(text)
    }
    const outside = testFiles.filter((file) => !patterns.some((pattern) => pattern.test(file)))
    expect(outside.filter(uses)).toEqual([])
  })
})
