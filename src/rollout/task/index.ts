// What the rest of this room, and its index, use of tasks.

export { loadTaskFolder } from './load-task-folder.ts'
export type { LoadedStep, LoadedTask, LoadTaskOptions, TaskPart, Verification } from './loaded-task.ts'
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
  type FolderRow,
  folderOfRow,
  holdsTaskFolders,
  isTaskFolder,
  loadTaskDataset,
  loadTaskRows,
  type TaskDataset,
  taskRow,
} from './task-dataset.ts'
export { taskDigest } from './task-digest.ts'
