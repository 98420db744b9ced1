// What other rooms may use of config.
export { checkDeep, type DeepCheck, type DeepOptions } from './check-deep.ts'
export { formatPath, type ParsedPath, parsePath } from './dotted-path.ts'
export { findProject } from './find-project.ts'
export { experimentJsonSchema, taskJsonSchema } from './json-schema.ts'
export { drySteps, type LoadedExperiment, type LoadOptions, loadExperiment } from './load-experiment.ts'
export { type LoadedTask, type LoadTaskOptions, loadTask } from './load-task.ts'
export { pluginReferences } from './plugin-references.ts'
export type { ConfigSource } from './read-document.ts'
