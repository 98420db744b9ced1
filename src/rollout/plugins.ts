// The built-in plugins of this room. A process that lists them loads what declares them and no more of the room.
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

export const rolloutPlugins = [
  ...([chat, toolLoop, shellLoop, terminal, cli, python, predictions, oracle, nop] as const),
  ...([inline, local, docker, harborSource] as const),
] as const
