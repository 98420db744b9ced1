// Attempts at a task folder as training and benchmarks make them, in environments that fail.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRegistry, defineEnvironment, EvsysError, keyedRandom } from '../../src/kernel/index.ts'
import { attemptFolder } from '../../src/rollout/folders/attempt-folder.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { openFolderEnvironment } from './folder-environment.ts'
import { bash } from './needs-bash.ts'
import { taskFolder } from './task-folder.ts'
import { noUsage } from './try-task.ts'

const folder = temporaryFolders()
const scores = '#!/bin/bash\n[ -f $ROOT/app/done ]; echo $((1 - $?)) > $ROOT/logs/verifier/reward.txt\n'

interface Story {
  /** Opens that fail before the first that works. */
  readonly failures: number
  readonly code?: 'ENVIRONMENT_FAILED' | 'ENVIRONMENT_REFUSED' | undefined
  agent?(): void
  readonly test?: string | undefined
}

async function attempt({ failures, code = 'ENVIRONMENT_FAILED', agent, test = scores }: Story) {
  const seen = { opened: 0, params: [] as unknown[], waits: [] as number[], kept: [] as (number | undefined)[] }
  const registry = createRegistry()
  const flaky = defineEnvironment({
    kind: 'flaky',
    summary: 'Fails at first.',
    params: z.strictObject({ word: z.string() }),
    async open({ stateDir, params }) {
      seen.opened += 1
      seen.params.push(params)
      if (seen.opened <= failures) throw new EvsysError(code, `no room ${seen.opened}`)
      return openFolderEnvironment(join(stateDir, 'root'))
    },
  })
  registry.add(flaky, { rank: 'project', label: 'test' })
  const scratch = folder()
  const attempted = await attemptFolder({
    task: await taskFolder(folder(), { 'tests/test.sh': test }),
    agent: 'scripted',
    environment: { kind: 'flaky', params: { word: 'given' } },
    async runAgent({ environment }, signal) {
      agent?.()
      await environment.exec({ argv: ['bash', '-c', 'touch $ROOT/app/done'] }, signal)
      return { turns: [], usage: noUsage, output: 'did' }
    },
    services: { registry, random: (...path) => keyedRandom(1, ...path), log: () => {}, secret: () => '' },
    scratch,
    clock: { sleep: async (ms) => void seen.waits.push(ms) },
    async keep(record, failed) {
      expect(existsSync(join(record, 'result.json'))).toBe(true)
      seen.kept.push(failed)
    },
    signal: new AbortController().signal,
  })
  expect(readdirSync(scratch)).toEqual([])
  return { attempted, ...seen }
}

bash.describe('an attempt at a task folder', () => {
  it('is made again when its environment failed, and the failed one is kept (AGT-14, AGT-16)', async () => {
    const { attempted, params, waits, kept } = await attempt({ failures: 1 })
    expect(attempted).toMatchObject({ reward: 1, failedAttempts: [{ code: 'ENVIRONMENT_FAILED', infra: true }] })
    expect(attempted.error).toBeUndefined()
    expect({ params, waits, kept }).toEqual({
      params: [{ word: 'given' }, { word: 'given' }],
      ...{ waits: [250], kept: [1, undefined] },
    })
  })

  it('is given up after a few times (AGT-16)', async () => {
    const { attempted, opened, waits, kept } = await attempt({ failures: 9 })
    expect(attempted).toMatchObject({ error: { infra: true, message: expect.stringContaining('no room 3') } })
    expect(attempted.failedAttempts).toHaveLength(2)
    expect({ opened, waits, kept }).toEqual({ opened: 3, waits: [250, 1000], kept: [1, 2, undefined] })
  })

  it('is not made again for what the agent did, nor for what is refused (AGT-16)', async () => {
    const own = await attempt({
      failures: 0,
      agent() {
        throw new Error('oops')
      },
    })
    expect(own.opened).toBe(1)
    expect(own.attempted).not.toHaveProperty('failedAttempts')
    const refused = await attempt({ failures: 9, code: 'ENVIRONMENT_REFUSED' })
    expect(refused.opened).toBe(1)
    expect(refused.attempted).toMatchObject({ error: { code: 'ENVIRONMENT_REFUSED', infra: true } })
  })

  it('of a group of eight leaves the others alone when its sandbox is gone, and is replaced when it comes back (HAR-71)', async () => {
    const group = (failures: number) =>
      Promise.all(Array.from({ length: 8 }, (_, member) => attempt({ failures: member === 3 ? failures : 0 })))
    const broken = await group(9)
    expect(broken.flatMap(({ attempted }) => attempted.reward ?? [])).toEqual(Array(7).fill(1))
    expect(broken[3]?.attempted).toMatchObject({ error: { code: 'ENVIRONMENT_FAILED', infra: true } })
    const replaced = await group(1)
    expect(replaced.map(({ attempted }) => attempted.reward)).toEqual(Array(8).fill(1))
  })

  it('with several rewards and none that counts is an error that names them, never a number (HAR-74)', async () => {
    const test = `#!/bin/bash\necho '{"style": 1, "speed": 0}' > $ROOT/logs/verifier/reward.json\n`
    const { attempted, opened } = await attempt({ failures: 0, test })
    expect(attempted.reward).toBeUndefined()
    expect(attempted).toMatchObject({
      error: { code: 'REWARD_INVALID', infra: true, message: expect.stringContaining('style, speed') },
    })
    expect(opened).toBe(1)
  })
})
