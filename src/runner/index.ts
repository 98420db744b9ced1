// What other rooms may use of runner: the training loop in this process. A controller starts `worker/worker-child.ts` instead.
export { createRunReporter } from './train/run-scope.ts'
export { trainRun } from './train/train-run.ts'
