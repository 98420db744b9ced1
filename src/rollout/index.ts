// What other rooms may use of rollouts.

export type { SimulatedUser } from './agents/plain-agents.ts'
export { chat, nop, oracle } from './agents/plain-agents.ts'
export { type AgentOutcome, type AgentRun, runAgent } from './agents/run-agent.ts'
export { terminal } from './agents/terminal.ts'
export { local } from './environments/local.ts'
export { type AttemptedFolder, attemptFolder, keepTrial } from './folders/attempt-folder.ts'
export { folderAgent, folderEnvironment } from './folders/folder-trials.ts'
export { JobConfig, refuseJobFields } from './job/job-config.ts'
export type { JobTask, PlannedTrial } from './job/plan-trials.ts'
export { type JobEnd, type JobRequest, type JobTrial, runJob } from './job/run-job.ts'
export { rolloutPlugins } from './plugins.ts'
export { LimitReached, limitOf } from './policy/limit-reached.ts'
export { answerQuestion, remotePolicy } from './policy/remote-policy.ts'
export { createTokenPolicy } from './policy/token-policy.ts'
export { type ProxyServer, type ServedSession, serveProxy } from './proxy/serve-proxy.ts'
export {
  folderOfRow,
  holdsTaskFolders,
  type LoadedTask,
  loadTaskDataset,
  loadTaskFolder,
  loadTaskRows,
} from './task/index.ts'
export { defineTool, type Tool, type ToolContext } from './tools/tool.ts'
export type { RunTrialAgent, TrialAgentRun } from './trial/run-agent-phase.ts'
export { runTrial } from './trial/run-trial.ts'
export { TrialConfig } from './trial/trial-config.ts'
export { trialError } from './trial/trial-error.ts'
export { type AgentInfo, TrialResult } from './trial/trial-result.ts'
export type { TrialOutcome, TrialRequest } from './trial/trial-scope.ts'
