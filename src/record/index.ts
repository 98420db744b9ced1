// What other rooms may use of record.
export { exportExperiment, exportRun } from './bundle/export-experiment.ts'
export { importBundle, pointItems } from './bundle/import-bundle.ts'
export { readBundle } from './bundle/read-bundle.ts'
export { type BenchmarkComparison, type BenchmarkSide, compareBenchmarks } from './compare-benchmarks.ts'
export { type ComparedSide, type Comparison, compareExperiments } from './compare-experiments.ts'
export { selectedEval } from './evidence/arm-scores.ts'
export {
  claimedMetric,
  conclusionLines,
  conclusionText,
  mixSentence,
  number,
  roughText,
} from './evidence/conclusion-text.ts'
export { dryRunMark, isDryRun } from './evidence/dry-run.ts'
export {
  aboutOf,
  armTags,
  besidesRuns,
  evidenceOf,
  experimentResult,
  resultOf,
  stoppedRuns,
} from './evidence/evidence-of.ts'
export { heldRuns, isReused, originDirOf, projectPlugins } from './evidence/held-runs.ts'
export { baselinesOf, judgeCosts, recordedLeaks, recordedSpeeds } from './evidence/recorded-events.ts'
export { answersOf, lossCurve, reportDetails } from './evidence/report-details.ts'
export { runArtifacts } from './evidence/run-summaries.ts'
export type { RecordedRun } from './evidence/weigh-evidence.ts'
export {
  answersFile,
  answersFolder,
  evalAnswersFile,
  evaluationsFolder,
  filesOf,
  outputDirOf,
  predictionsFile,
  runFolder,
  segmentFile,
  segmentNumbers,
} from './files/experiment-folder.ts'
export { type ExperimentStatus, experimentStatus, historyEntry, storedEvidence } from './history-entry.ts'
export { concludeLog, isLogImport, logGains, scoredRow } from './log/conclude-log.ts'
export { importLog } from './log/import-log.ts'
export { readResultsLog } from './log/read-results-log.ts'
export { type PlanForecast, planForecast } from './plan/plan-forecast.ts'
export { planPower } from './plan/plan-power.ts'
export { collectAnswers, collectSegments, projectUsage } from './project-usage.ts'
