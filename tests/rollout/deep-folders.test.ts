// What an agent leaves may be deeper than any path, wide, and closed to its owner: it is removed all the same, also after a killed job.
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeTree } from '../../src/rollout/trial/trial-environment.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const linux = needs('/proc', () => process.platform === 'linux' || 'this is no Linux')

/** Makes folders in folders, each from the one before: a path to the last would be longer than the system takes. */
function makeDeep(at: string, levels: number): void {
  let here = openSync(at, constants.O_DIRECTORY)
  for (let level = 0; level < levels; level++) {
    const inner = `/proc/self/fd/${here}/d`
    mkdirSync(inner)
    const next = openSync(inner, constants.O_DIRECTORY)
    closeSync(here)
    here = next
  }
  closeSync(here)
}

linux.describe('files of an environment', () => {
  it('are removed at any depth, in any number, whatever their rights (HAR-460)', async () => {
    const dir = join(folder(), 'left')
    mkdirSync(join(dir, 'wide'), { recursive: true })
    makeDeep(dir, 2500)
    for (let at = 0; at < 2000; at++) writeFileSync(join(dir, 'wide', `${at}`), '')
    mkdirSync(join(dir, 'closed', 'inner'), { recursive: true })
    chmodSync(join(dir, 'closed'), 0)
    await removeTree(dir)
    expect(existsSync(dir)).toBe(false)
    await removeTree(dir) // what is not there is no failure
  })
})
