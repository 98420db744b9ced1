// What other rooms may use of research.
export { allBuiltins } from './all-builtins.ts'
export type {
  DryRunEstimate,
  ExecutorLimits,
  ExecutorOptions,
} from './execute/executor-options.ts'
export { openExecutor } from './execute/open-executor.ts'
export { researchPlugins } from './plugins.ts'
export { bundledTasks, findTask, findTasks, type TaskPlace } from './tasks/find-tasks.ts'
export { type LoadResearchTaskOptions, loadResearchTask } from './tasks/load-research-task.ts'
export { checkResearchTask, isResearchTask } from './tasks/read-research-task.ts'
export { type TaskCard, taskCards } from './tasks/task-cards.ts'
