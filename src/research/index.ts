// What other rooms may use of research.

export { type SessionClaim, sessionClaim } from './conclude/session-claim.ts'
export { type TradeOffs, tradeOffs } from './conclude/trade-offs.ts'
export { type ChangedRange, changedRanges, DIFF_CONTEXT, linesOf, textOf, unifiedDiff } from './diff/unified-diff.ts'
export type { DryRunEstimate } from './execute/candidate-sandbox.ts'
export { openExecutor } from './execute/open-executor.ts'
export { removeFolder } from './execute/run-folder.ts'
export type { WrittenWinner } from './experiments/write-winner.ts'
export {
  type CurveDecision,
  curveChecks,
  curveGaps,
  curveRegret,
  decideCurve,
  smoothedAt,
} from './keep/curve-watcher.ts'
export { racePrior } from './keep/shrunken-gains.ts'
export { claimOf } from './keep/test-evaluation.ts'
export { forecastOf, workedSeconds } from './loop/session-budget.ts'
export { applyChanges, earlyEnds, extraMetrics, PEAK_MEMORY } from './loop/session-views.ts'
export { allBuiltins } from './plugins.ts'
export { knobImportance } from './surrogate/knob-importance.ts'
export { researchSubject } from './tasks/find-tasks.ts'

/** What research over experiment files may change. Imported on demand. */
export function loadExperimentEdits(): Promise<typeof import('./experiments/edits/index.ts')> {
  return import('./experiments/edits/index.ts')
}

/** The controller of sessions. Imported on demand: most commands need neither a record nor a sandbox. */
export function loadResearchLoop(): Promise<typeof import('./loop/index.ts')> {
  return import('./loop/index.ts')
}
export { bundledTasks, findTask, findTasks, isAskedFor } from './tasks/find-tasks.ts'
export { loadResearchTask } from './tasks/load-research-task.ts'
export { checkResearchTask, isResearchTask, taskCards } from './tasks/read-research-task.ts'
