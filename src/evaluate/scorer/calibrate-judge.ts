// A judge against people: every labelled answer is judged like any other, and the verdicts are compared.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readJsonl } from '../../data/index.ts'
import { checkValue, EvsysError } from '../../kernel/index.ts'
import { normalQuantile, wilson } from '../../stats/index.ts'
import type { ScoringPlan } from './score-predictions.ts'

/** Agreement with the labels; undefined where none of them is of a task that a model judges. Failed verdicts are counted. */
export async function calibrateJudge(
  plan: Pick<ScoringPlan, 'tasks' | 'verify'>,
  labels: readonly JudgeLabel[],
  signal: AbortSignal,
): Promise<{ calibration?: Agreement | undefined; labels_failed?: number | undefined }> {
  const tasks = new Map(plan.tasks.map((task) => [task.task_id, task]))
  const pairs: { judge: boolean; label: boolean }[] = []
  let failed = 0
  for (const { task_id, output, label } of labels) {
    const task = tasks.get(task_id)
    if (task === undefined || task.verifier.kind !== 'in_process' || task.verifier.fn_name !== 'llm_judge') continue
    const verified = await plan.verify(task, output, 0, signal)
    if ('reward' in verified) pairs.push({ judge: verified.reward >= 0.5, label: label === 'pass' })
    else failed += 1
  }
  return { calibration: agreementOf(pairs), labels_failed: failed === 0 ? undefined : failed }
}

/** Labels of tasks that the benchmark does not have are a mistake in the labels. */
export function checkLabels(labels: readonly JudgeLabel[], known: readonly { task_id: string }[]): void {
  const ids = new Set(known.map(({ task_id }) => task_id))
  const stray = labels.find(({ task_id }) => !ids.has(task_id))
  if (stray === undefined) return
  throw new EvsysError('DATA_INVALID', `judge-labels.jsonl: the benchmark has no task "${stray.task_id}"`, {
    fix: 'label answers to the tasks of this benchmark.',
  })
}

// How well a judge agrees with people: the share of equal verdicts, and Cohen's kappa (1960), which takes off what chance would
// give two raters with these habits.

interface Agreement {
  readonly n: number
  /** Share of equal verdicts, with its interval. */
  readonly agreement: number
  readonly agreement_ci: [number, number]
  /** Null where one of the two always says the same: then chance explains everything. */
  readonly kappa: number | null
  readonly kappa_ci: [number, number] | null
}

const confidence = 0.9

/** Agreement over pairs of verdicts; undefined where there is none. */
export function agreementOf(
  pairs: readonly { readonly judge: boolean; readonly label: boolean }[],
): Agreement | undefined {
  const n = pairs.length
  if (n === 0) return undefined
  const share = (of: (pair: { judge: boolean; label: boolean }) => boolean) => pairs.filter(of).length / n
  const agreement = share(({ judge, label }) => judge === label)
  const [judged, labelled] = [share(({ judge }) => judge), share(({ label }) => label)]
  const byChance = judged * labelled + (1 - judged) * (1 - labelled)
  const { lower, upper } = wilson(Math.round(agreement * n), n, confidence)
  const kappa = byChance === 1 ? null : (agreement - byChance) / (1 - byChance)
  return { n, agreement, agreement_ci: [lower, upper], kappa, kappa_ci: kappaInterval(kappa, agreement, byChance, n) }
}

// Large-sample standard error of kappa (Cohen 1960); wide for few labels, which is the point of showing it.
function kappaInterval(kappa: number | null, agreement: number, byChance: number, n: number): [number, number] | null {
  if (kappa === null || n < 2) return null
  const error = Math.sqrt((agreement * (1 - agreement)) / n) / (1 - byChance)
  if (error === 0) return null // all equal: the formula knows no spread, which is not certainty
  const z = normalQuantile((1 + confidence) / 2)
  return [Math.max(-1, kappa - z * error), Math.min(1, kappa + z * error)]
}

// Verdicts of people on answers, beside the tasks of a benchmark: `judge-labels.jsonl`. With them a judge is calibrated.
const JudgeLabel = z.strictObject({
  task_id: z.string().min(1).describe('Task that was answered.'),
  output: z.string().describe('The answer.'),
  label: z.enum(['pass', 'fail']).describe('What a person says of it.'),
})
type JudgeLabel = z.infer<typeof JudgeLabel>

/** The labels of a benchmark folder; none where there is no such file. */
export async function readJudgeLabels(folder: string, signal: AbortSignal): Promise<readonly JudgeLabel[]> {
  const file = join(folder, 'judge-labels.jsonl')
  if (!existsSync(file)) return []
  const labels: JudgeLabel[] = []
  for await (const { row, line } of readJsonl(file, { signal })) {
    const checked = checkValue(JudgeLabel, row)
    if (!checked.ok) {
      const [issue] = checked.issues
      const message = `${file}:${line}: ${[...(issue?.path ?? []), issue?.message ?? ''].join(': ')}`
      const fix = 'write {"task_id": ..., "output": ..., "label": "pass"} or "fail" in each line.'
      throw new EvsysError('DATA_INVALID', message, { where: { file, line, col: 1 }, fix })
    }
    labels.push(checked.value)
  }
  return labels
}
