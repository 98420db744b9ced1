// What other rooms may use of rollouts.
export {
  isTaskFolder,
  type LoadedStep,
  type LoadedTask,
  type LoadTaskOptions,
  loadTaskDataset,
  loadTaskFolder,
  resolveEnvTable,
  type TaskDataset,
  taskDigest,
  taskRow,
} from './task/index.ts'
