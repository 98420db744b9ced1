// What other rooms may use of rollouts.

export { chat, type SimulatedUser } from './agents/chat.ts'
export { nop, oracle } from './agents/oracle.ts'
export { type AgentOutcome, type AgentRun, defaultMaxTurns, runAgent } from './agents/run-agent.ts'
export { shellLoop } from './agents/shell-loop.ts'
export { terminal } from './agents/terminal.ts'
export { toolLoop } from './agents/tool-loop.ts'
export {
  parseTrajectory,
  readTrajectory,
  splitTrajectory,
  trajectoryText,
  type WriteTrajectoryOptions,
  writeTrajectory,
} from './atif/trajectory-file.ts'
export { finalMetrics, type TrajectoryOptions, trajectoryOf } from './atif/trajectory-of.ts'
export { turnsOf } from './atif/turns-of.ts'
export {
  chooseEnvironment,
  type EnvironmentChoice,
  type EnvironmentPlan,
  environmentDefinition,
  local,
  type MachineCapabilities,
  machineCapabilities,
  planEnvironment,
} from './environments/index.ts'
export { type AttemptedFolder, attemptFolder, keepTrial } from './folders/attempt-folder.ts'
export { folderAgent, folderEnvironment, type TaskPart } from './folders/folder-trials.ts'
export { JobConfig, refuseJobFields } from './job/job-config.ts'
export type { JobResult } from './job/job-folder.ts'
export { isRepeatable } from './job/job-schedule.ts'
export { evalKey, type JobStats } from './job/job-stats.ts'
export type { JobTask, PlannedTrial } from './job/plan-trials.ts'
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
export { LimitReached, limitOf, type RolloutLimit } from './policy/limit-reached.ts'
export { createTokenPolicy, type TokenPolicyOptions, withTokenSession } from './policy/token-policy.ts'
export {
  type CaptureProxy,
  type CaptureProxyOptions,
  createCaptureProxy,
  type OpenProxySession,
} from './proxy/capture-proxy.ts'
export type { ProxySessionOptions, ProxyStats } from './proxy/proxy-session.ts'
export { type ProxyServer, type ServedSession, serveProxy } from './proxy/serve-proxy.ts'
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
