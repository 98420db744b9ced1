import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { identify } from '../../kernel/index.ts'
import { openTrialScratch, sweepTrialScratch } from './trial-scratch.ts'

const folder = temporaryFolders()
const day = 24 * 60 * 60 * 1000

function left(trials: string, name: string, owner?: object): void {
  mkdirSync(join(trials, name, 'trial-x'), { recursive: true })
  if (owner !== undefined) writeFileSync(join(trials, name, 'owner.json'), JSON.stringify(owner))
}

describe('folders of trials', () => {
  it('of a process that is gone are removed by the next, those of one that lives stay (AGT-18)', async () => {
    const trials = folder()
    const { pid } = spawnSync(process.execPath, ['-e', '0'])
    left(trials, 'gone', { host: hostname(), pid, start: '1' })
    left(trials, 'reused', { host: hostname(), pid: process.pid, start: 'another' })
    left(trials, 'living', { host: hostname(), ...identify() })
    left(trials, 'elsewhere', { host: 'another-machine', pid: 1, start: '' })
    left(trials, 'torn')
    const own = await openTrialScratch(trials, 'own')
    expect(readdirSync(trials).sort()).toEqual(
      process.platform === 'linux'
        ? ['elsewhere', 'living', 'own', 'torn']
        : ['elsewhere', 'living', 'own', 'reused', 'torn'],
    )
    expect(existsSync(join(own, 'owner.json'))).toBe(true)
  })

  it('that nobody can be asked about are removed by their age (AGT-18)', async () => {
    const trials = folder()
    left(trials, 'elsewhere', { host: 'another-machine', pid: 1, start: '' })
    left(trials, 'torn')
    await sweepTrialScratch(trials, Date.now() + 6 * day)
    expect(readdirSync(trials)).toHaveLength(2)
    await sweepTrialScratch(trials, Date.now() + 8 * day)
    expect(readdirSync(trials)).toEqual([])
    await sweepTrialScratch(join(trials, 'never made'))
  })
})
