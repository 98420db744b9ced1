// The answers of one evaluation before the scorer as it is today.
import type { Prediction } from '../../contracts/index.ts'
import { openScorer } from '../../evaluate/index.ts'
import type { SecretSource } from '../../kernel/index.ts'
import { taskFoldersOf } from '../folders/task-folders-of.ts'
import type { KeptEval } from './kept-evals.ts'
import { attemptedOnce, type Rescored } from './rescore-experiment.ts'

export async function rescoreKeptEval(
  { kept, predictions }: { kept: KeptEval; predictions: readonly Prediction[] },
  options: { projectDir: string; secretSource: Pick<SecretSource, 'get'>; signal: AbortSignal },
): Promise<Rescored> {
  const { benchmark, folder, scored: before, model } = kept
  await using scorer = await openScorer({ ...options, benchmark, file: folder, plugins: [] })
  const told = { run: model, benchmark: benchmark.name, step: null, before }
  if (before.scorer_hash === scorer.hash) return { ...told, status: 'same' }
  if ((await taskFoldersOf({ ...benchmark, path: folder })) !== undefined)
    return { ...told, status: 'no answers', message: attemptedOnce }
  return { ...told, status: 'rescored', after: await scorer.score([...predictions]) }
}
