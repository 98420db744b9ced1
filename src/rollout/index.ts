// What other rooms may use of rollouts.

export { chat, type SimulatedUser } from './agents/chat.ts'
export { LimitReached, limitOf, type RolloutLimit } from './agents/limit-reached.ts'
export { nop } from './agents/nop.ts'
export { oracle } from './agents/oracle.ts'
export { type AgentOutcome, type AgentRun, defaultMaxTurns, runAgent } from './agents/run-agent.ts'
export { shellLoop } from './agents/shell-loop.ts'
export { terminal } from './agents/terminal.ts'
export { toolLoop } from './agents/tool-loop.ts'
export {
  finalMetrics,
  parseTrajectory,
  readTrajectory,
  splitTrajectory,
  type TrajectoryOptions,
  trajectoryOf,
  trajectoryText,
  turnsOf,
  type WriteTrajectoryOptions,
  writeTrajectory,
} from './atif/index.ts'
export {
  chooseEnvironment,
  type EnvironmentChoice,
  type EnvironmentPlan,
  environmentDefinition,
  local,
  type MachineMeans,
  machineMeans,
  planEnvironment,
} from './environments/index.ts'
export { JobConfig } from './job/job-config.ts'
export type { JobResult } from './job/job-folder.ts'
export { evalKey, type JobStats } from './job/job-stats.ts'
export type { JobTask, PlannedTrial } from './job/plan-trials.ts'
export { refuseJobFields } from './job/refuse-job-fields.ts'
export { isRepeatable } from './job/retry-rule.ts'
export {
  agentInfoOf,
  type JobEnd,
  type JobRequest,
  type JobTrial,
  type Rerun,
  runJob,
  type TrialParts,
} from './job/run-job.ts'
export { rolloutPlugins } from './plugins.ts'
export { createTokenPolicy, type TokenPolicyOptions } from './policy/token-policy.ts'
export {
  type CaptureProxy,
  type CaptureProxyOptions,
  createCaptureProxy,
  type OpenProxyTrial,
} from './proxy/capture-proxy.ts'
export type { ProxyStats, ProxyTrialOptions } from './proxy/proxy-trial.ts'
export { type ProxyServer, type ServedTrial, serveProxy } from './proxy/serve-proxy.ts'
export { withTokenSession } from './proxy/token-session.ts'
export {
  type FolderRow,
  folderOfRow,
  holdsTaskFolders,
  isTaskFolder,
  type LoadedStep,
  type LoadedTask,
  type LoadTaskOptions,
  loadTaskDataset,
  loadTaskFolder,
  loadTaskRows,
  resolveEnvTable,
  type TaskDataset,
  taskDigest,
  taskRow,
} from './task/index.ts'
export { defineTool, type Tool, type ToolContext } from './tools/tool.ts'
export type { RunTrialAgent, TrialAgentRecord, TrialAgentRun } from './trial/run-agent-phase.ts'
export { runTrial } from './trial/run-trial.ts'
export { TrialConfig } from './trial/trial-config.ts'
export { trialError } from './trial/trial-error.ts'
export { type AgentInfo, TrialResult } from './trial/trial-result.ts'
export type { TrialEvent, TrialOutcome, TrialRequest } from './trial/trial-scope.ts'
