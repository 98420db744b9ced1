import { expect } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { findProcessLevel } from '../../src/sandbox/index.ts'
import { experimentProject } from '../lab/experiment-project.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const found = await findProcessLevel()
const { it } = needs('workers in a sandbox', () => (found.level === 'process' ? (found.reason ?? 'none') : true))

const rows = ['one', 'two'].map((word) => ({
  task_id: `train-${word}`,
  instruction: word,
  // About every second answer passes.
  verifier: {
    kind: 'in_process',
    fn_name: 'code',
    params: { language: 'sh' },
    expected: '[ $(($(cksum < answer.sh | cut -d " " -f 1) % 2)) = 0 ]',
  },
}))
const experiment = {
  name: 'rewards',
  metadata: { hypothesis: 'Answers are run.' },
  run: {
    data: { source_kind: 'in_memory', rows },
    model: { name: 'evsys/tiny' },
    algorithm: { kind: 'rl', params: { max_steps: 1, batch_size: 2, num_samples: 8, max_tokens: 4 } },
    backend: { kind: 'mock' },
  },
}

it('rewards of the verifier `code` are made in sandboxes that are held for a run which is shut in itself (BOX-406)', async () => {
  const rewards: number[] = []
  const levels: unknown[] = []
  const logs: string[] = []
  const result = await runExperiment(experimentProject(folder(), experiment, {}), {
    seal: 'required',
    onItem(_row, item) {
      if (item.type === 'run.started') levels.push(item.sandbox)
      if (item.type === 'log') logs.push(item.text)
      if (item.type === 'step.finished') rewards.push(item.metrics['reward/mean'] ?? Number.NaN)
    },
  })
  expect(result.arms.map(({ status, error }) => [status, error])).toEqual([['completed', undefined]])
  expect(logs).toEqual([])
  expect(levels).toEqual([found.level])
  expect(rewards).toHaveLength(1)
  expect(rewards[0]).toBeGreaterThan(0)
  expect(rewards[0]).toBeLessThan(1)
}, 300_000)
