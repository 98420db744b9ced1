// What other rooms may use of research.
export { allBuiltins } from './all-builtins.ts'
export type {
  DryRunEstimate,
  ExecutorLimits,
  ExecutorOptions,
} from './execute/executor-options.ts'
export { openExecutor } from './execute/open-executor.ts'
export { researchPlugins } from './plugins.ts'
