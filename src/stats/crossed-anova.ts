// Two-way crossed random effects, one value in each cell: d_st = mu + seed_s + task_t + residual_st. Variance components by the method
// of moments (Searle, Casella, McCulloch 1992, section 4.3): the expected mean squares are
//   MS_seed = T var_seed + var_residual,  MS_task = S var_task + var_residual,  MS_residual = var_residual

import { at } from './at.ts'

export interface CrossedAnova {
  readonly mean: number
  readonly means_S: readonly number[]
  readonly seed: MeanSquare | null
  readonly task: MeanSquare | null
  readonly residual: MeanSquare | null
  /** Estimated variances, at least 0; null where the table cannot tell. With one task all spread counts as the seeds'. */
  readonly variance: VarianceComponents
}

export interface MeanSquare {
  readonly value: number
  readonly df: number
}

export interface VarianceComponents {
  readonly seed: number | null
  readonly task: number | null
  readonly residual: number | null
}

/** Analysis of variance of a complete table, of whose cells `filled` were put in by fit and carry no degree of freedom. */
export function crossedAnova(values_S_T: readonly (readonly number[])[], filled = 0): CrossedAnova {
  const nSeeds = values_S_T.length
  const nTasks = values_S_T[0]?.length ?? 0
  if (nSeeds === 0 || nTasks === 0 || values_S_T.some((row) => row.length !== nTasks)) {
    throw new RangeError('the table needs at least one seed and one task, and equal rows')
  }
  // Deviations from one of the values, so that a large common level costs no digits.
  const level = at(at(values_S_T, 0), 0)
  const means_S = values_S_T.map((row) => row.reduce((sum, value) => sum + (value - level), 0) / nTasks)
  const means_T = Array.from(
    { length: nTasks },
    (_, t) => values_S_T.reduce((sum, row) => sum + (at(row, t) - level), 0) / nSeeds,
  )
  const mean = means_S.reduce((sum, value) => sum + value, 0) / nSeeds
  let rest = 0
  for (const [s, row] of values_S_T.entries()) {
    for (const [t, value] of row.entries()) rest += (value - level - at(means_S, s) - at(means_T, t) + mean) ** 2
  }
  const seed = meanSquare(nTasks * squaresAround(means_S, mean), nSeeds - 1)
  const task = meanSquare(nSeeds * squaresAround(means_T, mean), nTasks - 1)
  const residual = meanSquare(rest, (nSeeds - 1) * (nTasks - 1) - filled)
  return {
    mean: mean + level,
    means_S: means_S.map((value) => value + level),
    seed,
    task,
    residual,
    variance: {
      seed: beyond(seed, nTasks === 1 ? { value: 0, df: 0 } : residual, nTasks),
      task: beyond(task, residual, nSeeds),
      residual: residual?.value ?? null,
    },
  }
}

function squaresAround(values: readonly number[], mean: number): number {
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}

function meanSquare(squares: number, df: number): MeanSquare | null {
  return df > 0 ? { value: squares / df, df } : null
}

function beyond(effect: MeanSquare | null, residual: MeanSquare | null, cells: number): number | null {
  return effect === null || residual === null ? null : Math.max(0, (effect.value - residual.value) / cells)
}
