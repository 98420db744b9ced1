// What commands do with experiments. It loads statistics, the store and the worker pool, so it is imported when it is needed.

export { evaluateModel } from './evaluation/evaluate-model.ts'
export { keepEval, keptEvals, readKeptEval } from './evaluation/kept-evals.ts'
export { modelTarget, type TrainedWeights, targetClient, trainedWeights } from './evaluation/target-client.ts'
export { holdLease } from './experiment/begin-experiment.ts'
export { concludeAgain, refreshFiles } from './experiment/conclude-experiment.ts'
export {
  type CandidateRuns,
  type CheckedCandidate,
  candidatesFolder,
  openCandidateRuns,
} from './experiment/run-candidates.ts'
export { checkRunnable, runExperiment, runsInRecord } from './experiment/run-experiment.ts'
export { checkReproduction, planDocument } from './reproduction/check-reproduction.ts'
export { rescoreExperiment, rescoreKeptEval } from './reproduction/rescore-experiment.ts'
export { isJobFile, readJobFile } from './trials/read-job-file.ts'
export { newJobFolder, runTaskFolders } from './trials/run-task-folders.ts'
export { acquireCores } from './workers/core-leases.ts'
