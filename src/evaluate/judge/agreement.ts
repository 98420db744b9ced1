// How well a judge agrees with people: the share of equal verdicts, and Cohen's kappa (1960), which takes off what chance would
// give two raters with these habits.
import { normalQuantile, wilson } from '../../stats/index.ts'

export interface Agreement {
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
