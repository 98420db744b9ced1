// A benchmark as a worker knows it: questions in a file, no answers.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SealedBenchmark } from '../src/contracts/index.ts'

export function benchmarkFile(dir: string, changes: Partial<SealedBenchmark> & { name: string }): SealedBenchmark {
  mkdirSync(join(dir, 'questions'), { recursive: true })
  const tasks_file = join(dir, 'questions', `${changes.name}.jsonl`)
  const lines = ['a', 'b', 'c'].map((task_id) => JSON.stringify({ task_id, instruction: `say ${task_id}` }))
  writeFileSync(tasks_file, lines.join('\n'))
  return SealedBenchmark.parse({
    split: 'val',
    run_every: 0,
    num_samples: 1,
    max_tokens: 6,
    temperature: 1,
    n_concurrent: 2,
    chat_template: {},
    tasks_file,
    ...changes,
  })
}
