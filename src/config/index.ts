// What other rooms may use of config.
export type { DeepCheck, DeepOptions } from './check-deep.ts'
export { formatPath, type ParsedPath, parsePath } from './dotted-path.ts'
export { experimentJsonSchema, taskJsonSchema } from './json-schema.ts'
export {
  drySteps,
  type ExperimentDraft,
  findProject,
  type LoadedExperiment,
  type LoadOptions,
  loadExperiment,
  pluginReferences,
} from './load-experiment.ts'
export { type LoadedTask, type LoadTaskOptions, loadTask } from './load-task.ts'
export { movedExperiment } from './moved-experiment.ts'
export type { FindWeights } from './named-weights.ts'
export { type ConfigSource, yamlValue } from './read-document.ts'

/** Checks plugins, params, paths, rows, tasks, verifiers and secrets. Loaded when asked for: a shallow check starts without it. */
export const checkDeep: typeof import('./check-deep.ts').checkDeep = async (...args) =>
  (await import('./check-deep.ts')).checkDeep(...args)

/** The same for an experiment that is refused for another reason: what else is wrong with it. */
export const checkDraft: typeof import('./check-deep.ts').checkDraft = async (...args) =>
  (await import('./check-deep.ts')).checkDraft(...args)
export { type WholeExperiment, type WholeOptions, wholeExperiment } from './whole-experiment.ts'
