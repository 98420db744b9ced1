// Verdicts of people on answers, beside the tasks of a benchmark: `judge-labels.jsonl`. With them a judge is calibrated.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readJsonl } from '../../data/index.ts'
import { checkValue, EvsysError } from '../../kernel/index.ts'

const JudgeLabel = z.strictObject({
  task_id: z.string().min(1).describe('Task that was answered.'),
  output: z.string().describe('The answer.'),
  label: z.enum(['pass', 'fail']).describe('What a person says of it.'),
})
export type JudgeLabel = z.infer<typeof JudgeLabel>

/** The labels of a benchmark folder; none where there is no such file. */
export async function readJudgeLabels(folder: string, signal: AbortSignal): Promise<readonly JudgeLabel[]> {
  const file = join(folder, 'judge-labels.jsonl')
  if (!existsSync(file)) return []
  const labels: JudgeLabel[] = []
  for await (const { row, line } of readJsonl(file, { signal })) {
    const checked = checkValue(JudgeLabel, row)
    if (checked.ok) labels.push(checked.value)
    else {
      const [issue] = checked.issues
      throw new EvsysError(
        'DATA_INVALID',
        `${file}:${line}: ${[...(issue?.path ?? []), issue?.message ?? ''].join(': ')}`,
        {
          where: { file, line, col: 1 },
          fix: 'write {"task_id": ..., "output": ..., "label": "pass"} or "fail" in each line.',
        },
      )
    }
  }
  return labels
}
