// A small project for whole-system tests: rows that the mock model can learn, two benchmarks, an experiment.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { inFullLane } from '../scale.ts'

const WORDS = ['refund', 'refund', 'refund', 'mail', 'shop']

/** Makes the project in a folder and returns the path of its experiment. */
export function experimentProject(
  dir: string,
  experiment: object,
  plugins: Readonly<Record<string, string>> = {},
): string {
  for (const folder of ['.evsys', 'data/val', 'data/test', 'src/plugins'])
    mkdirSync(join(dir, folder), { recursive: true })
  const rows = Array.from({ length: 20 }, (_, i) => ({ query: `question ${i}`, desk: WORDS[i % WORDS.length] }))
  writeFileSync(join(dir, 'data/train.jsonl'), lines(rows))
  for (const part of ['val', 'test']) {
    const tasks = WORDS.map((desk, i) => ({
      task_id: `${part}-${i}`,
      instruction: `question of ${part} ${i}`,
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: desk },
    }))
    writeFileSync(join(dir, 'data', part, 'tasks.jsonl'), lines(tasks))
  }
  for (const [name, text] of Object.entries(plugins)) writeFileSync(join(dir, 'src/plugins', name), text)
  const file = join(dir, 'experiment.yaml')
  writeFileSync(file, stringify(experiment))
  return file
}

/** Two learning rates, two seeds, in-loop validation, a test at the end. */
export const twoByTwo = {
  name: 'two-by-two',
  metadata: {
    hypothesis: 'A higher learning rate learns the commonest answer in a few steps.',
    objective: { metric: 'val.pass@1' },
    claim: {
      treatment: { 'algorithm.params.learning_rate': 0.1 },
      baseline: { 'algorithm.params.learning_rate': 0.001 },
    },
    benchmark: [
      {
        name: 'val',
        path: 'data/val',
        split: 'val',
        run_every: 5,
        metrics: ['pass@1'],
        num_samples: 2,
        temperature: 1,
        max_tokens: 12,
      },
      {
        name: 'test',
        path: 'data/test',
        split: 'test',
        metrics: ['pass@1'],
        num_samples: 2,
        temperature: 1,
        max_tokens: 12,
      },
    ],
  },
  n_repeats: 2,
  matrix: {
    axes: { 'algorithm.params.learning_rate': [0.001, 0.1] },
    base_run: {
      data: {
        path: 'data/train.jsonl',
        transforms: [{ kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }],
      },
      model: { name: 'mock' },
      algorithm: { kind: 'sft', params: { max_steps: 20, save_every: 5 } },
      backend: { kind: 'mock' },
    },
  },
}

/**
 * The same, as short as it can be with something to lose at every moment: two checkpoints, evaluations, a test. Its budget is just
 * enough: a step that is charged twice stops it. Two seeds are for the full lane.
 */
export const brief = {
  ...twoByTwo,
  n_repeats: inFullLane ? 2 : 1,
  budget: { steps: inFullLane ? 40 : 20 },
  matrix: {
    ...twoByTwo.matrix,
    base_run: { ...twoByTwo.matrix.base_run, algorithm: { kind: 'sft', params: { max_steps: 10, save_every: 4 } } },
  },
}

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}
