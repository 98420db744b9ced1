// A judge against people: every labelled answer is judged like any other, and the verdicts are compared.
import { EvsysError } from '../../kernel/index.ts'
import type { ScoringPlan } from '../scorer/score-predictions.ts'
import { type Agreement, agreementOf } from './agreement.ts'
import type { JudgeLabel } from './judge-labels.ts'

/** Agreement with the labels; undefined where none of them is of a task that a model judges. A verdict that fails is left out. */
export async function calibrateJudge(
  plan: Pick<ScoringPlan, 'tasks' | 'verify'>,
  labels: readonly JudgeLabel[],
  signal: AbortSignal,
): Promise<Agreement | undefined> {
  const tasks = new Map(plan.tasks.map((task) => [task.task_id, task]))
  const pairs: { judge: boolean; label: boolean }[] = []
  for (const { task_id, output, label } of labels) {
    const task = tasks.get(task_id)
    if (task === undefined || task.verifier.kind !== 'in_process' || task.verifier.fn_name !== 'llm_judge') continue
    const verified = await plan.verify(task, output, 0, signal)
    if ('reward' in verified) pairs.push({ judge: verified.reward >= 0.5, label: label === 'pass' })
  }
  return agreementOf(pairs)
}

/** Labels of tasks that the benchmark does not have are a mistake of whoever wrote them. */
export function checkLabels(labels: readonly JudgeLabel[], known: readonly { task_id: string }[]): void {
  const ids = new Set(known.map(({ task_id }) => task_id))
  const stray = labels.find(({ task_id }) => !ids.has(task_id))
  if (stray === undefined) return
  throw new EvsysError('DATA_INVALID', `judge-labels.jsonl: the benchmark has no task "${stray.task_id}"`, {
    fix: 'label answers to the tasks of this benchmark.',
  })
}
