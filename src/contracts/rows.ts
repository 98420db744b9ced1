// The shapes of a data row. They hold data alone: which tokens are trained on is the algorithm's decision.
import * as z from 'zod'
import { Text } from './name.ts'

/** A raw row, as a source yields it and transforms pass it on. */
export type Row = Record<string, unknown>

const TextBlock = z.looseObject({ type: z.literal('text'), text: z.string() })
const ImageBlock = z.looseObject({ type: z.enum(['image', 'image_url']) })

/** A call that an assistant message makes; `arguments` as JSON text or as the object it stands for. */
export const ToolCall = z.looseObject({
  id: z.string().optional(),
  type: z.literal('function').default('function'),
  function: z.looseObject({
    name: Text,
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
  }),
})
export type ToolCall = z.infer<typeof ToolCall>

/** One message of a conversation. An assistant message that only calls tools needs no content; every other one does. */
export const ChatMessage = z
  .strictObject({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.union([z.string(), z.array(z.union([TextBlock, ImageBlock])), z.null()]).default(null),
    name: z.string().optional(),
    tool_calls: z.array(ToolCall).optional(),
    tool_call_id: z.string().optional(),
    reasoning_content: z.string().optional(),
  })
  .refine(
    ({ role, content, tool_calls }) => content !== null || (role === 'assistant' && (tool_calls?.length ?? 0) > 0),
    { path: ['content'], error: 'only an assistant message with tool_calls may have no content' },
  )
export type ChatMessage = z.infer<typeof ChatMessage>

// Columns beside the known ones are dropped: transforms pass them along, and what should stay goes into `metadata`.
const metadata = z.record(z.string(), z.unknown()).default({})

/** A conversation to learn from. */
export const ChatMessagesRow = z.object({ messages: z.array(ChatMessage).min(1), metadata })
export type ChatMessagesRow = z.infer<typeof ChatMessagesRow>

/** How a completion is scored: a verifier function, a container with tests, or a judge model. */
export const VerifierPayload = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('in_process'),
    fn_name: Text,
    expected: z.unknown(),
    params: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({
    kind: z.literal('e2b'),
    dockerfile: z.string(),
    test_sh: z.string(),
    test_state_py: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('llm_judge'), judge_model: Text, rubric: Text }),
])
export type VerifierPayload = z.infer<typeof VerifierPayload>

/** A task to attempt and how the outcome is scored. */
export const HarborTask = z.object({
  task_id: Text,
  instruction: z.string(),
  verifier: VerifierPayload,
  metadata,
})
export type HarborTask = z.infer<typeof HarborTask>

/** Inputs of a prompt and the answer that is wanted. */
export const PromptExample = z.object({ inputs: z.record(z.string(), z.unknown()), expected: z.unknown(), metadata })
export type PromptExample = z.infer<typeof PromptExample>

const Answer = z.union([Text, z.array(ChatMessage).min(1)])

/** A conversation and two answers to it, of which the first is better. Text is short for one assistant message. */
export const PreferencePair = z.object({
  messages: z.array(ChatMessage).min(1),
  chosen: Answer,
  rejected: Answer,
  metadata,
})
export type PreferencePair = z.infer<typeof PreferencePair>

/** The shapes of a row, in the order in which they are recognised. */
export const RowFormat = z.enum(['harbor_task', 'prompt_dataset', 'preference_pair', 'chat_messages'])
export type RowFormat = z.infer<typeof RowFormat>

/** The typed row of a format. */
export interface RowOf {
  chat_messages: ChatMessagesRow
  harbor_task: HarborTask
  prompt_dataset: PromptExample
  preference_pair: PreferencePair
}

/** Format of a row by the keys it has; a task wins over an example, an example over a pair, a pair over a chat. */
export function detectFormat(row: Row): RowFormat | undefined {
  if ('task_id' in row && 'verifier' in row) return 'harbor_task'
  if ('inputs' in row && 'expected' in row) return 'prompt_dataset'
  if ('chosen' in row && 'rejected' in row) return 'preference_pair'
  if ('messages' in row) return 'chat_messages'
  return undefined
}
