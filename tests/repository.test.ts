import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { makeBarePath } from '../scripts/bare-path.mjs'
import { findMissing } from '../scripts/complete-lock.mjs'
import { floorVersion, suiteVersions } from '../scripts/node-versions.mjs'
import { readmeCommands } from './readme.ts'
import { temporaryFolders } from './temporary-folder.ts'

const folder = temporaryFolders()
const at = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))
const read = (file: string) => readFileSync(at(file), 'utf8')

describe('the lockfile', () => {
  it('names no download host, so that it installs from any registry (REPO-2)', () => {
    const hosts = Object.entries(lock.packages).filter(([, entry]) => 'resolved' in entry)
    expect(hosts.map(([name]) => name)).toEqual([])
    expect(read('package-lock.json')).not.toMatch(/"resolved"|registry/)
  })

  it('lists the packages of every platform, without which `npm ci` refuses it (REPO-2)', () => {
    expect(findMissing(lock.packages)).toEqual([])
  })

  it('pins every package by content, but for native code of other platforms (REPO-2)', () => {
    const loose = Object.entries(lock.packages).filter(([name, entry]) => name !== '' && !('integrity' in entry))
    expect(loose.filter(([, entry]) => !('optional' in entry && 'cpu' in entry)).map(([name]) => name)).toEqual([])
  })

  it('agrees with package.json (REPO-2)', () => {
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies)
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies)
    expect(lock.version).toBe(manifest.version)
  })

  // The script of this one only tries the binary that the package carries; the store opens without it.
  it('needs no install script of a runtime dependency (REPO-2)', () => {
    const scripted = Object.entries(lock.packages).filter(
      ([, entry]) => 'hasInstallScript' in entry && !('dev' in entry) && !('devOptional' in entry),
    )
    const tried = scripted.map(([name]) => name).filter((name) => name !== 'node_modules/@photostructure/sqlite')
    expect(tried).toEqual([])
  })
})

describe('CI', () => {
  const ci = read('.ci/run')

  it('runs the very test command of the README first, with only Node and git on the PATH (REPO-3)', () => {
    const stages = ci.split('\n').filter((line) => /^(bare_)?stage '/.test(line))
    expect(stages[0]).toBe(`bare_stage 'unit tests' '${readmeCommands(read('README.md')).tests}'`)
  })

  it('runs what was skipped there where everything is installed (REPO-6)', () => {
    expect(ci.indexOf('npm run test:skipped')).toBeGreaterThan(ci.indexOf("stage 'components'"))
  })

  it('makes a PATH of Node, git and what npm starts them with (REPO-2)', () => {
    const bin = makeBarePath(join(folder(), 'bin'))
    expect(readdirSync(bin).sort()).toEqual(['env', 'git', 'node', 'npm', 'npx', 'sh'])
    expect(
      execFileSync(join(bin, 'sh'), ['-c', 'node -p 1 && git --version'], { env: { PATH: bin } }).toString(),
    ).toMatch(/^1\ngit/)
  })

  it('can be started (REPO-3)', () => {
    expect(statSync(at('.ci/run')).mode & 0o111).toBe(0o111)
  })

  it('covers the Node versions that package.json admits (REPO-5)', () => {
    expect(ci).toContain('npm run test:nodes')
    expect(suiteVersions.map((version) => version.split('.')[0])).toEqual(['20', '22', '24'])
    expect(manifest.engines.node).toBe('>=20.12')
    expect(floorVersion).toMatch(/^20\.1[2-9]\./)
  })
})
