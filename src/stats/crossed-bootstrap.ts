// Bootstrap of the mean of a crossed table of seeds and tasks: rows and columns are resampled independently (the pigeonhole
// bootstrap of Owen 2007), so that both kinds of chance are in the interval. It errs on the wide side.

import type { Random } from '../contracts/index.ts'
import { at } from './at.ts'
import { type BootstrapResult, replicate, summary, tailsOf } from './bootstrap.ts'
import { requireFinite } from './require-finite.ts'

export interface CrossedBootstrapOptions {
  readonly values_S_T: readonly (readonly number[])[]
  /** `fixed`: chance lies in the seeds alone; `random`: tasks are a sample too. */
  readonly tasks: 'fixed' | 'random'
  readonly confidence: number
  readonly resamples?: number
  readonly random: Pick<Random, 'int'>
}

/** Percentile interval of the mean of a complete seeds x tasks table. */
export function crossedBootstrap(options: CrossedBootstrapOptions): BootstrapResult {
  const { values_S_T, tasks, confidence, resamples = 2000, random } = options
  const nTasks = values_S_T[0]?.length ?? 0
  if (values_S_T.length < 2 || nTasks < 1) throw new RangeError('a bootstrap needs at least two seeds and one task')
  if (values_S_T.some((row) => row.length !== nTasks)) throw new RangeError('every seed needs the same tasks')
  requireFinite(values_S_T.flat(), 'values')
  const means_S = values_S_T.map((row) => row.reduce((sum, value) => sum + value, 0) / nTasks)
  const estimate = means_S.reduce((sum, value) => sum + value, 0) / means_S.length
  const draw = () => {
    const picked = means_S.map(() => random.int(means_S.length))
    if (tasks === 'fixed') return picked.reduce((sum, s) => sum + at(means_S, s), 0) / picked.length
    const columns = Array.from({ length: nTasks }, () => random.int(nTasks))
    let sum = 0
    for (const s of picked) for (const t of columns) sum += at(at(values_S_T, s), t)
    return sum / (picked.length * nTasks)
  }
  return { estimate, ...summary(replicate(draw, resamples), tailsOf(confidence), confidence) }
}
