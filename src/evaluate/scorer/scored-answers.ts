// The answers of an evaluation beside what was asked, what was expected and what they earned. Written by the scorer, which alone knows
// all of it, to a place that recipe code does not see.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Prediction, Scored, ScoredAnswer } from '../../contracts/index.ts'
import { writeFileAtomic } from '../../kernel/index.ts'
import { answerKey, type ScoringPlan } from './score-predictions.ts'

export function scoredAnswers(
  { tasks, numSamples }: Pick<ScoringPlan, 'tasks' | 'numSamples'>,
  predictions: readonly Prediction[],
  { rewards }: Pick<Scored, 'rewards'>,
): ScoredAnswer[] {
  const given = new Map(predictions.map((each) => [answerKey(each.task_id, each.sample), each]))
  return tasks.flatMap(({ task_id, instruction, verifier, metadata }) =>
    Array.from({ length: numSamples }, (_, sample): ScoredAnswer => {
      const { task_id: _task, sample: _sample, ...answer } = given.get(answerKey(task_id, sample)) ?? {}
      return {
        task_id,
        sample,
        instruction,
        expected: verifier.kind === 'in_process' ? verifier.expected : undefined,
        reward: rewards[task_id]?.[sample] ?? null,
        metadata,
        ...answer,
      }
    }),
  )
}

export async function writeAnswers(file: string, answers: readonly ScoredAnswer[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFileAtomic(file, answers.map((each) => `${JSON.stringify(each)}\n`).join(''))
}
