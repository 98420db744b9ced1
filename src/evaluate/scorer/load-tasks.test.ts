// Task folders as the tasks of a benchmark, in the scorer: it reads and hashes them, and takes the rewards of their trials.
import { appendFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { Benchmark } from '../../contracts/index.ts'
import { createRegistry, keyedRandom } from '../../kernel/index.ts'
import { evaluatePlugins } from '../plugins.ts'
import { sealedTask } from './load-tasks.ts'
import { prepareScoring } from './prepare-scoring.ts'
import { answerKey, scorePredictions } from './score-predictions.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../../../tests/fixtures/harbor-tasks', import.meta.url))
const { signal } = new AbortController()

function prepare(path: string) {
  const registry = createRegistry()
  for (const plugin of evaluatePlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  return prepareScoring({
    benchmark: Benchmark.parse({ name: 'val', path, metrics: ['mean_reward'] }),
    source: { folder: path },
    verifierMs: 1000,
    hashOf: () => 'code',
    services: {
      ...{ registry, signal },
      need: async () => {},
      random: (...key) => keyedRandom(0, ...key),
      log: () => {},
      secret: () => '',
    },
  })
}

describe('a benchmark of task folders', () => {
  it('shows what is asked, and is the same benchmark wherever it lies, until a file of it changes (AGT-13)', async () => {
    const dir = folder()
    cpSync(fixtures, join(dir, 'tasks'), { recursive: true })
    const [here, there] = [await prepare(fixtures), await prepare(join(dir, 'tasks'))]
    expect(there.hash).toBe(here.hash)
    expect(here.tasks.map(sealedTask).map(({ task_id }) => task_id)).toEqual([
      'evsys/multi-step-advanced',
      'multi-step-simple',
      'evsys/workdir',
    ])
    expect(JSON.stringify(here.tasks)).not.toContain(fixtures)
    appendFileSync(join(dir, 'tasks/workdir/tests/test.sh'), 'true\n')
    expect((await prepare(join(dir, 'tasks'))).hash).not.toBe(here.hash)
    rmSync(join(dir, 'tasks/workdir/instruction.md'))
    await expect(prepare(join(dir, 'tasks'))).rejects.toThrow('instruction.md')
  })

  it('is scored by the rewards of its trials; an answer without one is open, never a wrong one (AGT-13)', async () => {
    const plan = await prepare(fixtures)
    const [a = '', b = '', c = ''] = plan.tasks.map(({ task_id }) => task_id)
    const predictions = [a, b, c].map((task_id) => ({ task_id, sample: 0, output: 'done' }))
    const given = new Map([
      [answerKey(a, 0), { reward: 1 }],
      [answerKey(b, 0), { failure: 'no room' }],
    ])
    const scored = await scorePredictions(plan, predictions, { limit: 2, signal, given })
    expect(scored).toMatchObject({ rewards: { [a]: [1], [b]: [null], [c]: [null] }, n_infra_failed: 2 })
    expect(scored.failures?.map(({ message }) => message).sort()).toEqual([
      'a task folder is scored by a trial, and none was run',
      'no room',
    ])
  })
})
