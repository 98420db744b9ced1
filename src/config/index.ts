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
export { checkDeep, checkDraft } from './on-demand.ts'
export { type ConfigSource, yamlValue } from './read-document.ts'
export { type WholeExperiment, type WholeOptions, wholeExperiment } from './whole-experiment.ts'
