// The built-in plugins of this room.
import { chat } from './agents/chat.ts'
import { shellLoop } from './agents/shell-loop.ts'
import { terminal } from './agents/terminal.ts'
import { toolLoop } from './agents/tool-loop.ts'

export const rolloutPlugins = [chat, toolLoop, shellLoop, terminal] as const
