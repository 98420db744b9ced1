// A terminal agent in the manner of Terminus: the model sees a terminal and types into it, in JSON or XML; that the task is done it
// has to say twice.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { ChatMessage } from '../../contracts/index.ts'
import { defineAgent } from '../../kernel/index.ts'
import { limitParams, replyMessage, requireEnvironment, shortened, turnSeed } from './conversation.ts'
import { readTerminalReply, type TerminalFormat } from './terminal-reply.ts'
import { TerminalSession } from './terminal-session.ts'

export const terminal = defineAgent({
  kind: 'terminal',
  summary: 'A terminal that stays, in the manner of Terminus: the model types keystrokes and sees what is shown.',
  params: z.strictObject({
    ...limitParams({ maxTurns: 100 }),
    format: z.enum(['json', 'xml']).default('json').describe('How the model writes what it types.'),
    max_output_chars: z.int().min(1).default(10_000).describe('Longer output of the terminal is cut in the middle.'),
    prompt_template: z
      .string()
      .min(1)
      .optional()
      .describe('First message, with `{instruction}` and `{terminal_state}`; absent: one that explains the format.'),
  }),
  async run({ task, policy, environment, sampling, params, random, signal }) {
    await using session = new TerminalSession(requireEnvironment('terminal', environment), signal)
    const readScreen = async () => shortened(await session.readScreen(), params.max_output_chars)
    const template = params.prompt_template ?? terminalPrompt(params.format)
    const first = { instruction: task.instruction, terminal_state: await readScreen() }
    const messages: ChatMessage[] = [{ role: 'user', content: filled(template, first) }]
    let isConfirming = false
    for (let turn = 0; ; turn++) {
      const answer = await policy.generate({ messages, ...sampling, seed: turnSeed(random, turn) }, signal)
      messages.push(replyMessage(answer))
      const reply = readTerminalReply(answer.text, params.format)
      if ('fault' in reply) {
        isConfirming = false
        const content = `Your answer could not be read: ${reply.fault}\nNothing was typed. Answer again, in the ${params.format.toUpperCase()} format of the first message.`
        messages.push({ role: 'user', content })
        continue
      }
      for (const { keystrokes, durationS } of reply.commands) await session.type(keystrokes, durationS)
      if (reply.isComplete && isConfirming) return { output: answer.text }
      isConfirming = reply.isComplete
      const warnings = reply.warnings.map((warning) => `Warning: ${warning}.\n`).join('')
      const shown = await readScreen()
      const content = isConfirming
        ? `${warnings}Terminal:\n${shown}\n\nIs the task really done? It will be graded, and nothing can be changed afterwards. If it is, say that it is complete once more; if not, go on.`
        : `${warnings}New terminal output:\n${shown}`
      messages.push({ role: 'user', content })
    }
  },
})

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(instruction|terminal_state)\}/g, (_, name: string) => values[name] ?? '')
}

/** The first message of the agent: what it may type and how, with places for the instruction and the terminal. */
function terminalPrompt(format: TerminalFormat): string {
  return readFileSync(join(templates, `terminal-${format}.md`), 'utf8').trimEnd()
}
const templates = fileURLToPath(new URL('../../../templates/rollout', import.meta.url))
