// What other rooms may use of research.
export { allBuiltins } from './all-builtins.ts'
export type { AdversaryReport } from './bench/adversary/bench-adversary.ts'
export type { BenchResult } from './bench/bench-strategies.ts'
export type { ChaosRow } from './bench/chaos/bench-chaos.ts'
export type { KillerRow } from './bench/curves/bench-killers.ts'
export { type ChangedRange, changedRanges } from './diff/changed-ranges.ts'
export { linesOf, textOf } from './diff/text-lines.ts'
export { DIFF_CONTEXT, unifiedDiff } from './diff/unified-diff.ts'
export type {
  DryRunEstimate,
  ExecutorLimits,
  ExecutorOptions,
} from './execute/executor-options.ts'
export { openExecutor } from './execute/open-executor.ts'
export {
  addGains,
  addIncumbent,
  controlDue,
  curveGaps,
  curveRegret,
  decideCurve,
  type HonestGains,
  honestGains,
  inconclusiveWords,
  type KeptGain,
  type Look,
  type LookReason,
  looksLeft,
  openNoise,
  planAblation,
  type RunningEvidence,
  racePrior,
  releasedGain,
  renewBank,
  runningEvidence,
  seedsStillNeeded,
  startingTypicalGain,
  type WatchedRun,
} from './judge/index.ts'
export { earlyEnds } from './loop/curve-watch.ts'
export { extraMetrics, PEAK_MEMORY } from './loop/extra-metrics.ts'
export { forecastOf, workedSeconds } from './loop/session-budget.ts'
export { researchPlugins } from './plugins.ts'
export { fingerprint } from './search/fingerprint/fingerprint.ts'

/** The controller of sessions. Imported on demand: most commands need neither a record nor a sandbox. */
export function loadResearchLoop(): Promise<typeof import('./loop/index.ts')> {
  return import('./loop/index.ts')
}
export { bundledTasks, findTask, findTasks, type TaskPlace } from './tasks/find-tasks.ts'
export { isAskedFor } from './tasks/is-asked-for.ts'
export { type LoadResearchTaskOptions, loadResearchTask } from './tasks/load-research-task.ts'
export { checkResearchTask, isResearchTask } from './tasks/read-research-task.ts'
export { type TaskCard, taskCards } from './tasks/task-cards.ts'

/** The bench of strategies. Imported on demand: no other command needs it. */
export function loadResearchBench(): Promise<typeof import('./bench/index.ts')> {
  return import('./bench/index.ts')
}
