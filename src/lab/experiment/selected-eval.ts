// Which evaluation of a run counts for a benchmark: the one of the selected checkpoint. Selection is by validation alone, so
// this never looks at a test score to choose.
import type { EvalRow, RunRow } from '../../store/index.ts'

/** The evaluation after training; else the in-loop one at the best step; else the last in-loop one. */
export function selectedEval(run: RunRow, evals: readonly EvalRow[], benchmark: string): EvalRow | undefined {
  const own = evals.filter((each) => each.benchmark === benchmark && each.error === undefined)
  const final = own.find((each) => each.step === undefined)
  const best = own.find((each) => each.step !== undefined && each.step === run.bestStep)
  return final ?? best ?? own.toSorted((a, b) => (b.step ?? 0) - (a.step ?? 0))[0]
}
