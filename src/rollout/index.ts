// What other rooms may use of rollouts.
export {
  chooseEnvironment,
  type EnvironmentChoice,
  type EnvironmentPlan,
  environmentDefinition,
  type MachineMeans,
  machineMeans,
  planEnvironment,
} from './environments/index.ts'
export { rolloutPlugins } from './plugins.ts'
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
