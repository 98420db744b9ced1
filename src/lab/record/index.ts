// What commands do with experiments and their record. It loads statistics, the store and the worker pool, so it is imported when
// it is needed.

export { evidenceOf, resultOf } from '../experiment/conclude-experiment.ts'
export { type RunExperimentOptions, runExperiment } from '../experiment/run-experiment.ts'
export { selectedEval } from '../experiment/selected-eval.ts'
export { collectSegments } from './collect-segments.ts'
export { compareExperiments } from './compare-experiments.ts'
export { concludeAgain, filesOf, refreshFiles } from './conclude-again.ts'
export { exportExperiment } from './export-experiment.ts'
export { historyEntry, storedEvidence } from './history-entry.ts'
export { importBundle } from './import-bundle.ts'
export { importLog } from './import-log.ts'
export { planForecast } from './plan-forecast.ts'
export { planPower } from './plan-power.ts'
export { projectUsage } from './project-usage.ts'
export { readBundle } from './read-bundle.ts'
export { readResultsLog } from './read-results-log.ts'
