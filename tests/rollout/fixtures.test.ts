// Task folders in the real sandbox of this machine: solved by their own solution, not by doing nothing.
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { ordinaryUser, sandbox } from './needs-sandbox.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../fixtures/harbor-tasks', import.meta.url))

/** Scores of an agent on the fixtures, by task: reward of the trial and of its steps. */
async function scores(agent: string, wrap: readonly string[] = []): Promise<unknown> {
  const dir = folder()
  cpSync(fixtures, join(dir, 'tasks'), { recursive: true })
  mkdirSync(join(dir, 'jobs'))
  if (wrap.length > 0) ordinaryUser.give(dir)
  await using child = startChild('run-folders', [join(dir, 'tasks'), agent, join(dir, 'jobs/one')], { wrap })
  return JSON.parse(await child.line())
}

sandbox.describe('three network-free task folders', () => {
  const solved = {
    'evsys/multi-step-advanced': [1, 1, 1, 1],
    'evsys/workdir': [1],
    'multi-step-simple': [1, 1, 1],
  }
  const missed = { 'evsys/multi-step-advanced': [0, 0], 'evsys/workdir': [0], 'multi-step-simple': [0, 0, 0] }

  it('score 1 under oracle and 0 under nop (HAR-27, HAR-79)', async () => {
    expect([await scores('oracle'), await scores('nop')]).toEqual([solved, missed])
  }, 120_000)

  ordinaryUser.it(
    'do so for an ordinary user (HAR-27, HAR-79)',
    async () => {
      expect(await scores('oracle', ordinaryUser.wrap)).toEqual(solved)
      expect(await scores('nop', ordinaryUser.wrap)).toEqual(missed)
    },
    120_000,
  )
})
