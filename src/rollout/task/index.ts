// What the rest of this room, and its index, use of tasks.

export { loadTaskFolder } from './load-task-folder.ts'
export type { LoadedStep, LoadedTask, TaskPart, Verification } from './loaded-task.ts'
export { type NetworkPolicy, networkPolicy, samePolicy } from './network-policy.ts'
export {
  type Artifact,
  artifactPlace,
  type EnvironmentConfig,
  type Healthcheck,
  type HostEnv,
  manifestName,
  placesOverlap,
  resolveEnvTable,
} from './task-config.ts'
export {
  folderOfRow,
  holdsTaskFolders,
  loadTaskDataset,
  loadTaskRows,
  taskRow,
} from './task-dataset.ts'
