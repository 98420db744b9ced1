import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyedRandom } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { canonicalRecords } from './canonical-records.ts'
import { startExperiment } from './experiment-process.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'
import { killingHarness } from './killing-harness.ts'

const folder = temporaryFolders()
const slow = { timeout: 1_800_000 }
const executions = inFullLane ? 5 : 1
const kills = inFullLane ? 4 : 2

const steps = 6
const perStep = 3 * 4 // tasks and answers to each
const rows = ['one', 'two', 'three'].map((word) => ({
  task_id: `train-${word}`,
  instruction: word,
  verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
}))
const [val, test] = twoByTwo.metadata.benchmark

/** On-policy, two turns to every answer, a checkpoint and a look every other step. */
const onPolicy = {
  name: 'on-policy',
  metadata: { objective: { metric: 'val.pass@1' }, benchmark: [{ ...val, run_every: 2 }, test] },
  run: {
    data: { source_kind: 'in_memory', rows },
    model: { name: 'mock' },
    agent: { kind: 'harness' },
    algorithm: {
      kind: 'rl',
      params: {
        ...{ max_steps: steps, batch_size: 3, num_samples: 4, max_tokens: 8, learning_rate: 0.3, save_every: 2 },
        callbacks: [{ kind: 'killer' }],
      },
    },
    backend: { kind: 'mock' },
  },
}

const project = () => experimentProject(folder(), onPolicy, { 'harness.ts': killingHarness })

describe('an on-policy run that is killed', slow, () => {
  let expected: unknown[] = []
  /** Asynchronous operations from the last answer of a step to its end. */
  let updateLength = 0

  beforeAll(async () => {
    const file = project()
    const { arms } = await runExperiment(file, { sandbox: 'process' }) // its harness counts in a file of the project
    expect(arms.map(({ status, error }) => [status, error])).toEqual([['completed', undefined]])
    expected = await canonicalRecords(file)
    const lengths = readFileSync(join(dirname(file), 'updates.txt'), 'utf8')
      .trim()
      .split('\n')
      .map(Number)
    expect(lengths).toHaveLength(steps)
    updateLength = Math.min(...lengths)
  }, slow.timeout)

  it.each(Array.from({ length: executions }, (_, execution) => execution))(
    'in rollouts and in updates, again and again, ends in the same record, execution %i (RL-205)',
    async (execution) => {
      const file = project()
      // Every other one in an update. Each attempt gets a step or two further, so that there is something to kill.
      const planned = Array.from({ length: kills }, (_, i) => {
        const random = (purpose: string) => keyedRandom(3, 'killed-rl', execution, i, purpose).float()
        const step = Math.floor(random('step') * 3)
        return i % 2 === 0
          ? { answer: step * perStep + 1 + Math.floor(random('answer') * perStep) }
          : { step: Math.min(step, 1), operation: 1 + Math.floor(random('operation') * updateLength) }
      })
      writeFileSync(join(dirname(file), 'kills.json'), JSON.stringify(planned))
      const codes: unknown[] = []
      for (let attempt = 0; attempt <= kills + 1 && codes.at(-1) !== 0; attempt++) {
        await using child = startExperiment(file, {
          resume: existsSync(join(dirname(file), 'attempts.txt')),
          open: true,
        })
        writeFileSync(join(dirname(file), 'controller.txt'), String(child.process.pid))
        const { code, error } = await child.end()
        codes.push(error ?? code)
      }
      expect({ planned, codes }).toEqual({ planned, codes: [...planned.map(() => 'SIGKILL'), 0] })
      expect({ planned, records: await canonicalRecords(file) }).toEqual({ planned, records: expected })
      rmSync(dirname(file), { recursive: true })
    },
  )
})
