// What other rooms may use of rollouts.
import { chat, nop, oracle } from './agents/plain-agents.ts'
import { predictions } from './agents/predictions.ts'
import { shellLoop } from './agents/shell-loop.ts'
import { terminal } from './agents/terminal.ts'
import { toolLoop } from './agents/tool-loop.ts'
import { cli } from './cli/cli-agent.ts'
import { inline } from './environments/choose-environment.ts'
import { docker } from './environments/docker.ts'
import { local } from './environments/local.ts'
import { python } from './python/python-agent.ts'
import { harborSource } from './task/task-dataset.ts'

/** The built-in plugins of this room. */
export const rolloutPlugins = [
  ...([chat, toolLoop, shellLoop, terminal, cli, python, predictions, oracle, nop] as const),
  ...([inline, local, docker, harborSource] as const),
] as const

export type { SimulatedUser } from './agents/plain-agents.ts'
export { type AgentOutcome, type AgentRun, runAgent } from './agents/run-agent.ts'
export { type AttemptedFolder, attemptFolder, keepTrial } from './folders/attempt-folder.ts'
export { folderAgent, folderEnvironment } from './folders/folder-trials.ts'
export { JobConfig, refuseJobFields } from './job/job-config.ts'
export type { JobTask, PlannedTrial } from './job/plan-trials.ts'
export { type JobEnd, type JobRequest, type JobTrial, runJob } from './job/run-job.ts'
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
export { chat, local, nop, oracle, terminal }
