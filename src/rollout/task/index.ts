// What the rest of this room, and its index, use of tasks.
export { artifactPlace, manifestName, placesOverlap } from './artifact-paths.ts'
export { type HostEnv, resolveEnvTable } from './env-template.ts'
export { loadTaskFolder } from './load-task-folder.ts'
export type { LoadedStep, LoadedTask, LoadTaskOptions, TaskPart, Verification } from './loaded-task.ts'
export { type NetworkPolicy, networkPolicy, samePolicy, widenPolicy } from './network-policy.ts'
export type {
  AgentConfig,
  Artifact,
  EnvironmentConfig,
  Healthcheck,
  McpServer,
  StepConfig,
  TaskConfig,
  VerifierConfig,
} from './task-config.ts'
export { isTaskFolder, loadTaskDataset, type TaskDataset } from './task-dataset.ts'
export { taskDigest } from './task-digest.ts'
export { taskRow } from './task-row.ts'
