// Points before they enter the record. Types are no proof: items come from workers and other machines.
import type { PointBatch } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { checkedName } from './checked-name.ts'

/** An error unless every point of a batch can be stored. */
export function checkPoints({ run_id, key, step, value, at_ms }: PointBatch): void {
  const n = key.length
  if (step.length !== n || value.length !== n || at_ms.length !== n) throw badPoint(run_id, 'columns differ in length')
  let last: string | undefined
  for (let i = 0; i < n; i++) {
    const name = key[i] ?? ''
    if (name !== last) last = checkedName('metric name', name)
    if (!isCount(step[i])) throw badPoint(run_id, `"${name}" at step ${step[i]}: a step is a whole number from 0 on`)
    if (!Number.isFinite(value[i])) throw badPoint(run_id, `"${name}" at step ${step[i]} is ${value[i]}`)
    if (!isCount(at_ms[i])) throw badPoint(run_id, `"${name}" at step ${step[i]} has the time ${at_ms[i]}`)
  }
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && (value ?? -1) >= 0
}

function badPoint(runId: string, what: string): EvsysError {
  return new EvsysError('DATA_INVALID', `metrics of run ${runId}: ${what}`, {
    fix: 'report finite numbers only; a loss that is no number is for the guard, not for the record.',
  })
}
