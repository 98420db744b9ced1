// Attackers among honest agents in one job, four trials at a time, in the real sandbox: each gets what it has earned.
import { chmodSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import type { AttackReport, Ending } from './attackers/attack-job.ts'
import { attackers } from './attackers/index.ts'
import { ordinaryUser, sandbox } from './needs-sandbox.ts'

const folder = temporaryFolders()
const every = inFullLane ? 1 : 4
const isScored = ({ reward, error }: Ending) => reward === 1 || (reward === undefined && error === undefined)

async function attackAll(wrap: readonly string[] = []): Promise<void> {
  const place = folder()
  chmodSync(place, 0o755)
  if (wrap.length > 0) ordinaryUser.give(place)
  await using child = startChild('attack-job', [place, String(every)], { wrap })
  const report: AttackReport = JSON.parse(await child.line())
  expect(report.harm).toEqual([])
  expect(report.attackers.filter(isScored)).toEqual([])
  expect(report.attackers.filter(({ reward = 0 }) => reward !== 0)).toEqual([])
  expect(report.honest.filter(({ reward, error }) => reward !== 1 || error !== undefined)).toEqual([])
  const expected = Math.ceil(attackers.length / every)
  expect([report.attackers.length, report.honest.length]).toEqual([expected, expected])
}

sandbox.describe('attacking agents', () => {
  it('are at least forty (HAR-32)', () => {
    expect(new Set(attackers.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40)
  })

  it('get no reward, outlive no trial and harm no honest sibling (HAR-32, HAR-33, BOX-6)', () => attackAll(), 300_000)

  if (inFullLane)
    ordinaryUser.it(
      'do not when an ordinary user runs the job (HAR-32, HAR-33, BOX-6)',
      () => attackAll(ordinaryUser.wrap),
      300_000,
    )
})
