// What other rooms may use of research.

export { type ChangedRange, changedRanges, DIFF_CONTEXT, linesOf, textOf, unifiedDiff } from './diff/unified-diff.ts'
export type {
  DryRunEstimate,
  ExecutorLimits,
  ExecutorOptions,
} from './execute/candidate-sandbox.ts'
export { openExecutor } from './execute/open-executor.ts'
export { removeFolder } from './execute/run-folder.ts'
export { assessControl, controlDue } from './keep/control-runs.ts'
export {
  type CurveDecision,
  curveChecks,
  curveGaps,
  curveRegret,
  decideCurve,
  smoothedAt,
  type WatchedRun,
} from './keep/curve-watcher.ts'
export { startingTypicalGain } from './keep/keep-rules.ts'
export {
  gainOf,
  measureGain,
  pairGains,
  type SeedResult,
  valuesBySeed,
} from './keep/measure-gain.ts'
export { adoptControl, freshSeeds, nextRaceRun, openBank, refreshBank, renewBank } from './keep/seed-bank.ts'
export { addGains, addIncumbent, openNoise, type SessionNoise } from './keep/session-noise.ts'
export {
  type DecidedAttempt,
  type KeptGain,
  racePrior,
  type ShrunkenGains,
  shrunkenGains,
} from './keep/shrunken-gains.ts'
export {
  planTestEvaluation,
  releasedGain,
  stepTestEvaluation,
  type TestEvaluationReason,
  type TestEvaluationRecord,
  testEvaluationDue,
  testEvaluationsLeft,
} from './keep/test-evaluation.ts'
export { forecastOf, workedSeconds } from './loop/session-budget.ts'
export { applyChanges, earlyEnds, extraMetrics, PEAK_MEMORY } from './loop/session-views.ts'
export { allBuiltins, researchPlugins } from './plugins.ts'
export { fingerprint } from './search/fingerprint.ts'

/** The controller of sessions. Imported on demand: most commands need neither a record nor a sandbox. */
export function loadResearchLoop(): Promise<typeof import('./loop/index.ts')> {
  return import('./loop/index.ts')
}
export { bundledTasks, findTask, findTasks, isAskedFor, type TaskPlace } from './tasks/find-tasks.ts'
export { type LoadResearchTaskOptions, loadResearchTask } from './tasks/load-research-task.ts'
export { checkResearchTask, isResearchTask, type TaskCard, taskCards } from './tasks/read-research-task.ts'
