// A shell, one command for each answer: its output goes back to the model, until the model says that it is done. Every command is a
// separate shell; files stay.
import * as z from 'zod'
import type { Agent, ChatMessage, ExecResult, Generated, OpenEnvironment, ToolSpec } from '../../contracts/index.ts'
import { defineAgent } from '../../kernel/index.ts'
import {
  limitParams,
  openingMessages,
  promptParams,
  replyMessage,
  requireEnvironment,
  shortened,
  turnSeed,
} from './conversation.ts'

const Params = z.strictObject({
  ...promptParams,
  ...limitParams({ maxTurns: 50 }),
  format: z
    .enum(['auto', 'native', 'text'])
    .default('text')
    .describe(
      '`text`: commands stand in a ```bash block; `native`: the shell is a tool; `auto`: a tool where the model takes tools.',
    ),
  command_timeout_s: z.number().positive().max(86_400).default(60).describe('Longest that one command may take.'),
  max_output_chars: z.int().min(1).default(10_000).describe('Longer output is cut in the middle.'),
  max_reminders: z
    .int()
    .min(0)
    .default(3)
    .describe('Answers in a row without a command that are asked again; then the attempt is over.'),
})
type Context = Parameters<Agent<'shell_loop', typeof Params>['run']>[0]

const shellTool: ToolSpec = {
  name: 'shell',
  description:
    'Runs one command with bash and returns its exit code and output. Files stay from one command to the next.',
  parameters: {
    type: 'object',
    properties: { command: { type: 'string', description: 'The command.' } },
    required: ['command'],
    additionalProperties: false,
  },
}

export const shellLoop = defineAgent({
  kind: 'shell_loop',
  summary: 'A shell in the environment of the task: one command for each answer, until the model is done.',
  params: Params,
  async run(context) {
    const { params, policy, task, sampling, random, signal } = context
    const environment = requireEnvironment('shell_loop', context.environment)
    const isNative = params.format === 'native' || (params.format === 'auto' && policy.takesTools !== false)
    const system_prompt = params.system_prompt ?? (isNative ? nativePrompt(environment) : textPrompt(environment))
    const messages = openingMessages({ ...params, system_prompt }, task)
    let reminders = 0
    for (let turn = 0; ; turn++) {
      const tools = isNative ? [shellTool] : undefined
      const answer = await policy.generate({ messages, ...sampling, seed: turnSeed(random, turn), tools }, signal)
      const steps = isNative ? nativeSteps(answer) : [readCommand(answer.text)]
      const replies: string[] = []
      for (const step of steps) replies.push(await replyTo(step, environment, context))
      if (steps.every(({ kind }) => kind === 'done')) return { output: answer.text }
      reminders = steps.some(({ kind }) => kind === 'command') ? 0 : reminders + 1
      if (reminders > params.max_reminders) return { output: answer.text }
      if (isNative) messages.push(...nativeMessages(answer, replies, turn))
      else messages.push(replyMessage(answer), { role: 'user', content: replies.join('\n') })
    }
  },
})

async function replyTo(step: ShellStep, environment: OpenEnvironment, { params, signal }: Context): Promise<string> {
  if (step.kind === 'done') return ''
  if (step.kind === 'fault') return step.text
  const timeoutMs = params.command_timeout_s * 1000
  const result = await environment.exec({ argv: ['bash', '-c', step.command], limits: { timeoutMs } }, signal)
  return inWords(result, params.command_timeout_s, params.max_output_chars)
}

function inWords(
  { exitCode, signal, stdout, stderr, limitHit, truncated }: ExecResult,
  timeoutS: number,
  maxChars: number,
) {
  const end =
    limitHit === 'timeoutMs'
      ? `ended after ${timeoutS} s, the longest that a command may take`
      : limitHit !== undefined
        ? `ended at its limit of ${limitHit}`
        : signal !== null
          ? `ended by ${signal}`
          : `exit code ${exitCode}`
  const parts = [stdout, ...(stderr.trim() === '' ? [] : [`stderr:\n${stderr}`])].filter((part) => part !== '')
  const output = shortened(parts.join('\n'), maxChars)
  return [`(${end}${truncated ? ', output cut' : ''})`, ...(output === '' ? [] : [output])].join('\n')
}

function nativeSteps({ toolCalls = [] }: Generated): ShellStep[] {
  if (toolCalls.length === 0) return [{ kind: 'done' }]
  return toolCalls.map(({ function: { name, arguments: args } }): ShellStep => {
    if (name !== shellTool.name)
      return { kind: 'fault', text: `error: there is no tool called "${name}"; there is shell.` }
    try {
      const { command } = Object(typeof args === 'string' ? JSON.parse(args) : args) as { command?: unknown } // tested below
      if (typeof command === 'string' && command.trim() !== '') return { kind: 'command', command }
    } catch {
      // reported below
    }
    return { kind: 'fault', text: 'error: the arguments are no JSON object with a "command".' }
  })
}

function nativeMessages(answer: Generated, replies: readonly string[], turn: number): ChatMessage[] {
  const calls = (answer.toolCalls ?? []).map((call, i) => ({ ...call, id: call.id ?? `call_${turn}_${i}` }))
  return [
    replyMessage({ ...answer, toolCalls: calls }),
    ...calls.map(
      ({ id }, i): ChatMessage => ({ role: 'tool', name: 'shell', tool_call_id: id, content: replies[i] ?? '' }),
    ),
  ]
}

const place = ({ workdir }: OpenEnvironment) =>
  `Every command starts in ${workdir}, in a shell of its own; files stay from one command to the next.`

const textPrompt = (environment: OpenEnvironment) =>
  `You finish a task on a Linux machine. In each answer write exactly one command in a block:\n\`\`\`bash\nls\n\`\`\`\nIts output comes in the next message. ${place(environment)} When the task is done, answer ${doneWord} without a command.`

const nativePrompt = (environment: OpenEnvironment) =>
  `You finish a task on a Linux machine with the tool shell. ${place(environment)} When the task is done, answer without calling it.`

// One command out of an answer in words.
type ShellStep =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'done' }
  /** What the model gets in place of an output. */
  | { readonly kind: 'fault'; readonly text: string }

/** What a model writes when there is nothing more to do. */
const doneWord = 'TASK_COMPLETE'

const block = /^[ \t]*```[ \t]*(?:bash|sh|shell|console)?[ \t]*\r?\n([\s\S]*?)^[ \t]*```[ \t]*$/gm

export function readCommand(text: string): ShellStep {
  const commands = [...text.matchAll(block)].map(([, body = '']) => body.trim()).filter((body) => body !== '')
  const [command] = commands
  if (commands.length > 1) {
    return { kind: 'fault', text: `There are ${commands.length} commands in your answer, and none was run. Write one.` }
  }
  if (command !== undefined) return { kind: 'command', command }
  if (text.includes(doneWord)) return { kind: 'done' }
  return {
    kind: 'fault',
    text: `There is no command in your answer. Write one in a \`\`\`bash block, or ${doneWord} when the task is done.`,
  }
}
