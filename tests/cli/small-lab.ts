// A project whose experiment takes seconds: the mock backend learns to say yes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SmallLabOptions {
  /** More of the experiment file, laid over it. */
  readonly file?: Readonly<Record<string, unknown>> | undefined
  readonly axes?: Readonly<Record<string, readonly unknown[]>> | undefined
  readonly steps?: number | undefined
  /** Plugin files by name. */
  readonly plugins?: Readonly<Record<string, string>> | undefined
}

const questions = ['Is it red?', 'Is it green?', 'Is it blue?']
const answer = 'yes'

/** Writes the project. Its experiment is `config.yaml`: two learning rates, two seeds. */
export function writeSmallLab(dir: string, { file = {}, axes, steps = 12, plugins = {} }: SmallLabOptions = {}): void {
  for (const folder of ['.evsys', 'val', 'src/plugins']) mkdirSync(join(dir, folder), { recursive: true })
  const rows = questions.map((question) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ],
  }))
  const tasks = questions.map((question, i) => ({
    task_id: `task-${i + 1}`,
    instruction: question.replace('Is', 'Was'),
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: answer },
  }))
  writeFileSync(join(dir, 'train.jsonl'), lines(rows))
  writeFileSync(join(dir, 'val', 'tasks.jsonl'), lines(tasks))
  for (const [name, text] of Object.entries(plugins)) writeFileSync(join(dir, 'src/plugins', name), text)
  const experiment = {
    name: 'colours',
    metadata: {
      hypothesis: 'A higher learning rate learns the answer sooner.',
      objective: { metric: 'val.pass@1', direction: 'max' },
      claim: {
        treatment: { 'algorithm.params.learning_rate': 0.3 },
        baseline: { 'algorithm.params.learning_rate': 0.001 },
        min_effect: 0.1,
      },
      benchmark: [
        {
          name: 'val',
          path: 'val',
          split: 'val',
          run_every: 4,
          metrics: ['pass@1'],
          max_tokens: 8,
          num_samples: 2,
          temperature: 1,
        },
      ],
    },
    n_repeats: 2,
    matrix: {
      axes: axes ?? { 'algorithm.params.learning_rate': [0.001, 0.3] },
      base_run: {
        data: { path: 'train.jsonl' },
        model: { name: 'mock' },
        algorithm: { kind: 'sft', params: { max_steps: steps, batch_size: 3, save_every: 4 } },
        backend: { kind: 'mock' },
      },
    },
    ...file,
  }
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify(experiment, null, 2)) // JSON is YAML
}

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** Output without what differs from one time to the next. */
export function stable(text: string): string {
  return text
    .replaceAll(/exp_[0-9a-hjkmnp-tv-z]{26}/g, 'exp_ID')
    .replaceAll(/\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}-\d{3}/g, 'STAMP')
    .replaceAll(/\b\d+(\.\d+)? (ms|s|min|h)( \d+ (s|min))?\b/g, 'TIME')
}
