import { randomBytes } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findProcessLevel } from '../../src/sandbox/index.ts'
import { needs } from '../needs.ts'
import { ordinaryUser } from '../rollout/needs-sandbox.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const patience = 600_000
const missing = async (level: 'bubblewrap' | 'chroot') =>
  findProcessLevel(level).then(
    () => true as const,
    (error: Error) => error.message,
  )
const found = { bubblewrap: await missing('bubblewrap'), chroot: await missing('chroot') }
const bubblewrap = needs('workers in bubblewrap', () => found.bubblewrap)
const chroot = needs('workers in a chroot', () => found.chroot)

interface Outcome {
  readonly error?: unknown
  readonly status: string
  readonly failed?: unknown
  readonly notices: readonly string[]
  readonly code?: { readonly sandbox: string }
  readonly killed: readonly string[]
  readonly wrote: readonly string[]
  readonly left: number
  readonly kept: readonly string[]
}

async function play(level: string, { isOrdinary = false } = {}): Promise<Outcome> {
  const dir = folder()
  chmodSync(dir, 0o755)
  if (isOrdinary) ordinaryUser.give(dir)
  const mark = `left-${randomBytes(6).toString('hex')}`
  const wrap = isOrdinary ? ordinaryUser.wrap : []
  await using child = startChild('attack-beside', [dir, level, mark], { wrap })
  const outcome: Outcome = JSON.parse(await child.line())
  await child.exit()
  expect(outcome.error).toBeUndefined()
  return outcome
}

const everywhere = ['plugin-child', 'recipe-child', 'watch-child', 'evaluator-child', 'worker-child', 'rows']
const hooks = ['start', 'group', 'end']

/** Nothing was done in any process, and the hooks wrote where they may. */
async function withstands(level: string, options: { isOrdinary?: boolean } = {}) {
  const { status, failed, code, killed, wrote, left, kept, notices } = await play(level, options)
  expect({ status, failed, level: code?.sandbox, killed, wrote, left }).toEqual({
    status: 'completed',
    level,
    killed: [],
    wrote: [],
    left: 0,
  })
  expect(kept).toEqual(['ours'])
  const text = notices.join('\n')
  // The result is made before the last hook.
  for (const hook of ['start', 'group']) expect(text).toContain(`info: ${hook}: `)
  expect(text).not.toMatch(/(?:killed|wrote|appended|renamed|read an answer)/)
  expect(text).toMatch(
    /failed in onExperimentStart.*can write in .*callbacks alone: write there, or run with --sandbox process/,
  )
}

it(
  'the attacks work in every process where nothing shuts them in (BOX-403)',
  async () => {
    const { killed, wrote, left } = await play('process')
    expect([...wrote].sort()).toEqual([...everywhere, ...hooks].sort())
    expect([...killed].sort()).toEqual([...everywhere, ...hooks].sort())
    expect(left).toBeGreaterThan(0)
  },
  patience,
)
bubblewrap.it(
  'code of a project is shut in by bubblewrap wherever it is loaded or called (BOX-403, BOX-404)',
  () => withstands('bubblewrap'),
  patience,
)
chroot.it(
  'code of a project is shut in by a chroot wherever it is loaded or called (BOX-403, BOX-404)',
  () => withstands('chroot'),
  patience,
)
ordinaryUser.it(
  'and so it is where an ordinary user runs it (BOX-403, BOX-404)',
  async () => {
    if (found.bubblewrap === true) await withstands('bubblewrap', { isOrdinary: true })
    if (found.chroot === true) await withstands('chroot', { isOrdinary: true })
  },
  patience,
)
