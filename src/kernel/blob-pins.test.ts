import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryPath } from './atomic-file.ts'
import { openPins } from './blob-pins.ts'
import { sha256 } from './hash.ts'

let dir = ''
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'evsys-pins-')), 'pins')
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }))

it('tidies what a killed process left, and keeps pins and what is being written (KER-12)', async () => {
  const pins = openPins(dir)
  const [pinned, empty] = ['a', 'b'].map(sha256) as [string, string]
  const own = basename(temporaryPath(dir))
  const dead = own.replace(/-\d+-(?=[0-9a-f]{16}\.tmp$)/, '-4194305-') // beyond the largest pid of Linux
  await pins.add(pinned, 'me')
  mkdirSync(join(dir, empty))
  for (const name of [own, dead]) writeFileSync(join(dir, name), '')
  await pins.tidy()
  expect(readdirSync(dir).sort()).toEqual([own, pinned].sort())
  expect(await pins.owners(pinned)).toEqual(['me'])
  expect(await pins.has(empty)).toBe(false)
})

it('adds a pin while others keep removing its folder (KER-12)', async () => {
  const pins = openPins(dir)
  const hash = sha256('x')
  const rounds = Array.from({ length: 30 })
  const flicker = async (owner: string) => {
    for (const _ of rounds) {
      await pins.add(hash, owner)
      expect(await pins.owners(hash)).toContain(owner)
      await pins.remove(hash, owner)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(flicker))
  expect(await pins.owners(hash)).toEqual([])
})
