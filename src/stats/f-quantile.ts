// Fisher's F distribution: only its quantile is needed, as the line between luck and noise for a ratio of two variances.

import { betaLogit } from './incomplete-beta.ts'

/** The ratio that F with `df1` and `df2` degrees of freedom stays under with probability p. */
export function fQuantile(p: number, df1: number, df2: number): number {
  // With x = df1 F / (df1 F + df2): I_x(df1 / 2, df2 / 2) = p, so F = (df2 / df1) x / (1 - x).
  return (df2 / df1) * Math.exp(betaLogit(df1 / 2, df2 / 2, p))
}
