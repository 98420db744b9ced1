// The messages of an agent: those that open a task, and an answer as a part of the conversation that follows.

import * as z from 'zod'
import type { ChatMessage, Generated, HarborTask, OpenEnvironment, Random } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

/** System prompt and instruction. */
export function openingMessages(
  { system_prompt, user_template }: { system_prompt?: string | undefined; user_template: string },
  { instruction }: HarborTask,
): ChatMessage[] {
  return [
    ...(system_prompt === undefined ? [] : [{ role: 'system' as const, content: system_prompt }]),
    { role: 'user', content: user_template.split('{prompt}').join(instruction) },
  ]
}

/** An answer as the message that it amounts to. Nothing of it is left out: its tokens stand in the history as they were drawn. */
export function replyMessage({ text, toolCalls = [], reasoning }: Generated): ChatMessage {
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    tool_calls: toolCalls.length === 0 ? undefined : [...toolCalls],
    reasoning_content: reasoning,
  }
}

/** Root of the draws of one turn. The first is that of an attempt of one turn. */
export function turnSeed(random: (...path: (string | number)[]) => Random, turn: number): number {
  return (turn === 0 ? random() : random('turn', turn)).int(2 ** 32)
}

/** A long text by its beginning and its end, with a line that says what is missing. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const half = Math.floor(maxChars / 2)
  const [head, tail] = [wholeChars(text.slice(0, half), 'end'), wholeChars(text.slice(text.length - half), 'start')]
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`
}

// Half of a surrogate pair is no character.
function wholeChars(text: string, cut: 'start' | 'end'): string {
  if (cut === 'end') return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text
}

/** The environment of an agent that cannot do without. */
export function requireEnvironment(agent: string, environment: OpenEnvironment | undefined): OpenEnvironment {
  if (environment !== undefined) return environment
  throw new EvsysError('SANDBOX_MISSING', `the agent "${agent}" needs an environment, and the task has none`, {
    fix: 'give the task an environment, or take the agent chat or tool_loop.',
  })
}

// Params that agents share: how the task is put, and limits that `runAgent` keeps for every agent which declares them.

/** How the instruction becomes the first messages. */
export const promptParams = {
  system_prompt: z.string().optional().describe('Put before the task’s instruction.'),
  user_template: z.string().min(1).default('{prompt}').describe('Wraps the instruction: `{prompt}` is replaced.'),
}

/** Where an attempt ends. */
export function limitParams({ maxTurns }: { maxTurns: number }) {
  return {
    max_turns: z.int().min(1).max(100_000).default(maxTurns).describe('Most answers of the model in one attempt.'),
    max_total_tokens: z
      .int()
      .min(1)
      .optional()
      .describe('Most tokens that the model may draw in one attempt; absent: no limit.'),
    timeout_s: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('Longest that one attempt may take; absent: no limit.'),
  }
}

/** The limits among the params of any agent. */
export const LimitParams = z.looseObject({
  max_turns: z.int().min(1).optional(),
  max_total_tokens: z.int().min(1).optional(),
  timeout_s: z.number().positive().optional(),
})
