import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { findProcessLevel } from '../../src/sandbox/index.ts'
import { needs } from '../needs.ts'
import { processesWith } from '../processes-with.ts'
import { ordinaryUser } from '../rollout/needs-sandbox.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { leftMark, recipeAttacks } from './recipe-attacks.ts'

const folder = temporaryFolders()
const missing = async (level: 'bubblewrap' | 'chroot') =>
  findProcessLevel(level).then(
    () => true as const,
    (error: Error) => error.message,
  )
const found = { bubblewrap: await missing('bubblewrap'), chroot: await missing('chroot') }
const tools = () => execFileSync('/bin/sh', ['-c', 'command -v perl mount kill'])
const bubblewrap = needs('workers in bubblewrap', () => (tools().length > 0 ? found.bubblewrap : 'no tools'))
const chroot = needs('workers in a chroot', () => (tools().length > 0 ? found.chroot : 'no tools'))
/** There to end a hang: beside busy processes all of it takes minutes. */
const patience = 900_000

interface Outcome {
  readonly error?: unknown
  readonly runs: readonly {
    readonly said: string[]
    readonly ended: string
    readonly sandbox: string
    message?: string
  }[]
  readonly record?: string
  readonly isWhole?: boolean
}

bubblewrap.it(
  'a recipe in bubblewrap harms neither the machine nor the project nor a sibling (BOX-400, BOX-401, BOX-402)',
  () => attackAll('bubblewrap', { isOrdinary: false, every: 1 }),
  patience,
)
chroot.it(
  'a recipe in a chroot harms neither the machine nor the project nor a sibling (BOX-400, BOX-401, BOX-402)',
  () => attackAll('chroot', { isOrdinary: false, every: 2 }),
  patience,
)
ordinaryUser.it(
  'nor does one that an ordinary user runs (BOX-400, BOX-401, BOX-402)',
  async () => {
    if (found.bubblewrap === true) await attackAll('bubblewrap', { isOrdinary: true, every: 2 })
    if (found.chroot === true) await attackAll('chroot', { isOrdinary: true, every: 3 })
  },
  patience,
)

async function attackAll(level: string, { isOrdinary, every }: { isOrdinary: boolean; every: number }) {
  const dir = folder()
  chmodSync(dir, 0o755)
  const attacks = recipeAttacks.filter((_, i) => inFullLane || i % every === 0)
  writeFileSync(join(dir, 'attacks.json'), JSON.stringify(attacks.map(({ code }) => code)))
  if (isOrdinary) ordinaryUser.give(dir)
  const wrap = isOrdinary ? ordinaryUser.wrap : []
  await using child = startChild('attack-worker', [dir, level], { wrap })
  const outcome: Outcome = JSON.parse(await child.line())
  await child.exit()
  expect(outcome.error).toBeUndefined()
  for (const [i, { name, ends, said }] of attacks.entries()) {
    const run = outcome.runs[i]
    expect(run?.ended, `${name}: ${run?.message}`).toMatch(ends)
    for (const line of run?.said ?? []) expect(line, name).toMatch(said ?? /^refused /)
  }
  const honest = outcome.runs.at(-1)
  expect(honest).toMatchObject({ ended: 'completed', sandbox: level })
  expect(outcome).toMatchObject({ record: 'SQLite format', isWhole: true })
  expect(processesWith(leftMark)).toEqual([])
}
