// The first message of the terminal agent: what it may type and how.
import type { TerminalFormat } from './terminal-reply.ts'

const json = `{
  "analysis": "what the terminal shows, and what is done so far",
  "plan": "what comes next, and why",
  "commands": [
    { "keystrokes": "ls -la\\n", "duration": 0.5 }
  ],
  "task_complete": false
}`

const xml = `<response>
<analysis>what the terminal shows, and what is done so far</analysis>
<plan>what comes next, and why</plan>
<commands>
<keystrokes duration="0.5">ls -la
</keystrokes>
</commands>
<task_complete>false</task_complete>
</response>`

/** With places for the instruction and the terminal. */
export function terminalPrompt(format: TerminalFormat): string {
  return `You finish a task in a Linux terminal by typing into it. Answer with one ${format === 'json' ? 'JSON object' : '<response>'} and nothing else:

${format === 'json' ? json : xml}

Keystrokes are typed exactly as they stand: a command runs when it ends with a newline. A key by its name alone, such as C-c, Tab or Up, stands for that key. duration is how many seconds to wait at most (60 at the most); the next message comes as soon as the shell is ready again. An empty list of commands waits for nothing. Say task_complete only when the task is done: you are asked to confirm it.

The task:
{instruction}

The terminal:
{terminal_state}`
}
