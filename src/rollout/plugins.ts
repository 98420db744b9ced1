// The built-in plugins of this room.
import { chat } from './agents/chat.ts'
import { nop, oracle } from './agents/oracle.ts'
import { shellLoop } from './agents/shell-loop.ts'
import { terminal } from './agents/terminal.ts'
import { toolLoop } from './agents/tool-loop.ts'
import { cli } from './cli/cli-agent.ts'
import { docker } from './environments/docker.ts'
import { inline } from './environments/inline.ts'
import { local } from './environments/local.ts'
import { python } from './python/python-agent.ts'
import { harborSource } from './task/task-dataset.ts'

export const rolloutPlugins = [
  chat,
  toolLoop,
  shellLoop,
  terminal,
  cli,
  python,
  oracle,
  nop,
  inline,
  local,
  docker,
  harborSource,
] as const
