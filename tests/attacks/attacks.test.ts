// A sample of the lists in this lane, all of them in the full one. `node scripts/attack.mjs` plays them as another user and at another level.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { needs } from '../needs.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { attackRows } from './attack-rows.ts'
import { evidenceAttacks } from './evidence-attacks.ts'
import { honestRows } from './honest-rows.ts'
import { inputAttacks } from './input-attacks.ts'
import { playInput } from './play-inputs.ts'
import { batches, type Player, playAttacks, playHonest } from './play-recipes.ts'
import { playRequests } from './play-requests.ts'
import { requestAttacks } from './request-attacks.ts'
import type { Played, RecipeRow } from './rows.ts'

const folder = temporaryFolders()
const player: Player = {
  evsys: [process.execPath, fileURLToPath(new URL('../../bin/evsys.js', import.meta.url))],
  folder,
  seal: 'auto',
}
const namespaces = needs('user namespaces (unshare, mount)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'evsys', '/tmp'])
  return true
})

/** Every one, or every `n`th. */
function sample<R>(rows: readonly R[], n: number): R[] {
  return rows.filter((_, i) => inFullLane || i % n === 0)
}

async function played<R extends RecipeRow & { alone?: true | undefined }>(
  rows: readonly R[],
  play: (batch: R[], player: Player) => Promise<Played[]>,
): Promise<Played[]> {
  const all: Played[] = []
  for (const batch of batches(rows, 40)) all.push(...(await play(batch, player)))
  return all
}

const bad = (all: readonly Played[]) => all.filter(({ outcome }) => outcome === 'harm' || outcome === 'hindered')

describe('attacks and honest recipes', { timeout: 3_600_000 }, () => {
  it('are many, each under one name (ATK-1, ATK-2)', () => {
    const names = [...attackRows, ...requestAttacks, ...inputAttacks, ...honestRows].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length - honestRows.length).toBeGreaterThanOrEqual(120)
    expect(honestRows.length).toBeGreaterThanOrEqual(150)
  })

  it('honest recipes are not hindered (ATK-2)', async () => {
    const rows = sample(honestRows, 5)
    const all = await played(rows, playHonest)
    expect(all).toHaveLength(rows.length)
    expect(bad(all)).toEqual([])
  })

  namespaces.it('forged evidence moves no score (ATK-1, ATK-3)', async () => {
    const rows = inFullLane ? evidenceAttacks : evidenceAttacks.filter(({ alone }, i) => alone !== true && i % 2 === 0)
    const all = await played(rows, playAttacks)
    expect(all).toHaveLength(rows.length)
    expect(bad(all)).toEqual([])
  })

  if (inFullLane)
    namespaces.it('recipes gain nothing, and harm no one (ATK-1)', async () => {
      const rows = attackRows.filter((row) => !evidenceAttacks.includes(row))
      expect(bad(await played(rows, playAttacks))).toEqual([])
    })

  it('requests reach nothing of another key (ATK-1)', async () => {
    const rows = inFullLane ? requestAttacks : requestAttacks.filter(({ alone }) => alone !== true)
    expect(bad(await playRequests(rows, player))).toEqual([])
  })

  it('hostile inputs end in time, with an error (ATK-1)', async () => {
    const all: Played[] = []
    for (const row of sample(inputAttacks, 16)) all.push(await playInput(row, player))
    expect(bad(all)).toEqual([])
  })
})
