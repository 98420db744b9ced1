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
const levels = await Promise.all(
  (['bubblewrap', 'chroot'] as const).map(async (level) => {
    const found = await findProcessLevel(level).catch((error: Error) => error.message)
    return { level, missing: typeof found === 'string' ? found : undefined }
  }),
)
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

for (const [at, { level, missing }] of levels.entries()) {
  const works = needs(`workers at level ${level}`, () => {
    execFileSync('/bin/sh', ['-c', 'command -v perl mount kill'])
    return missing ?? true
  })
  works.it(
    `a recipe harms neither the machine nor the project nor a sibling at level ${level} (BOX-400, BOX-401, BOX-402)`,
    () => attackAll(level, { isOrdinary: false, every: at === 0 ? 1 : 2 }),
    patience,
  )
  if (works.missing === undefined)
    ordinaryUser.it(
      `nor at level ${level} when an ordinary user runs it (BOX-400, BOX-401, BOX-402)`,
      () => attackAll(level, { isOrdinary: true, every: at === 0 ? 2 : 3 }),
      patience,
    )
}

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
