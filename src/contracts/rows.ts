// The three shapes of a data row. They hold data alone: which tokens are trained on is the algorithm's decision.
import * as z from 'zod'

/** A raw row, as a source yields it and transforms pass it on. */
export type Row = Record<string, unknown>

const TextBlock = z.looseObject({ type: z.literal('text'), text: z.string() })
const ImageBlock = z.looseObject({ type: z.enum(['image', 'image_url']) })

export const ToolCall = z.looseObject({
  id: z.string().optional(),
  type: z.literal('function').default('function'),
  function: z.looseObject({
    name: z.string().min(1),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
  }),
})

export const ChatMessage = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.union([TextBlock, ImageBlock])), z.null()]),
  name: z.string().optional(),
  tool_calls: z.array(ToolCall).optional(),
  tool_call_id: z.string().optional(),
  reasoning_content: z.string().optional(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

const metadata = z.record(z.string(), z.unknown()).default({})

export const ChatMessagesRow = z.object({ messages: z.array(ChatMessage).min(1), metadata })
export type ChatMessagesRow = z.infer<typeof ChatMessagesRow>

/** How a completion is scored: a verifier function, a container with tests, or a judge model. */
export const VerifierPayload = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('in_process'),
    fn_name: z.string().min(1),
    expected: z.unknown(),
    params: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({
    kind: z.literal('e2b'),
    dockerfile: z.string(),
    test_sh: z.string(),
    test_state_py: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('llm_judge'), judge_model: z.string().min(1), rubric: z.string().min(1) }),
])
export type VerifierPayload = z.infer<typeof VerifierPayload>

export const HarborTask = z.object({
  task_id: z.string().min(1),
  instruction: z.string(),
  verifier: VerifierPayload,
  metadata,
})
export type HarborTask = z.infer<typeof HarborTask>

export const PromptExample = z.object({ inputs: z.record(z.string(), z.unknown()), expected: z.unknown(), metadata })
export type PromptExample = z.infer<typeof PromptExample>

export const RowFormat = z.enum(['harbor_task', 'prompt_dataset', 'chat_messages'])
export type RowFormat = z.infer<typeof RowFormat>

/** The typed row of a format. */
export interface RowOf {
  chat_messages: ChatMessagesRow
  harbor_task: HarborTask
  prompt_dataset: PromptExample
}

/** Format of a row by the keys it has; a task wins over an example, an example over a chat. */
export function detectFormat(row: Row): RowFormat | undefined {
  if ('task_id' in row && 'verifier' in row) return 'harbor_task'
  if ('inputs' in row && 'expected' in row) return 'prompt_dataset'
  if ('messages' in row) return 'chat_messages'
  return undefined
}
