// What crosses when an agent runs in one process and the environment of its task is held by another: the order to lead the model through
// a task, the calls of `OpenEnvironment`, and what the agent ended with.
import * as z from 'zod'
import { RolloutError } from './error.ts'
import { Level } from './execution.ts'
import { Count } from './name.ts'
import { PluginSpec } from './plugin.ts'
import { ChatMessage, ToolCall } from './rows.ts'

/** An agent to be run for a task, or for one step of it. It does not say where the task lies. */
export const AgentOrder = z.strictObject({
  agent: PluginSpec,
  task_id: z.string(),
  instruction: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  system_prompt: z.string().optional().describe('Put before that of the agent.'),
  max_tokens: z.int().min(1),
  temperature: z.number().min(0),
  seed_path: z.array(z.union([z.string(), z.number()])).describe('Address of the draws, below the seed of the run.'),
  takes_tools: z.boolean().describe('Whether its model can be given tools.'),
  environment: z.strictObject({ level: Level, workdir: z.string() }).optional().describe('Absent: there is none.'),
})
export type AgentOrder = z.infer<typeof AgentOrder>

const Limit = z.number().exactOptional()

const Command = z.strictObject({
  argv: z.array(z.string()),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  stdin: z.string().optional(),
  network: z.boolean().optional(),
  user: z.union([z.string(), z.int()]).optional(),
  limits: z
    .strictObject({ timeoutMs: Limit, memoryBytes: Limit, outputBytes: Limit, processes: Limit, diskBytes: Limit })
    .optional(),
})

/** A call to an environment. Bytes are base64; a file that is longer than a message comes in parts. */
export const EnvironmentCall = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('exec'), command: Command }),
  z.strictObject({ method: z.literal('spawn'), command: Command }),
  z.strictObject({ method: z.literal('next_output'), process: z.int() }),
  z.strictObject({ method: z.literal('wait'), process: z.int() }),
  z.strictObject({ method: z.literal('input'), process: z.int(), text: z.string() }),
  z.strictObject({ method: z.literal('end_input'), process: z.int() }),
  z.strictObject({ method: z.literal('end_process'), process: z.int() }),
  z.strictObject({ method: z.literal('read'), path: z.string() }),
  z
    .strictObject({
      method: z.literal('stage'),
      upload: z.int(),
      name: z.string().describe('Below the folder that is uploaded; empty: it is a single file.'),
      data: z.string().optional().describe('Added to what is there; absent: a folder.'),
      mode: Count.max(0o777),
    })
    .describe('A part of what `write` and `upload` put in place.'),
  z.strictObject({ method: z.literal('write'), upload: z.int(), path: z.string() }),
  z.strictObject({ method: z.literal('upload'), upload: z.int(), path: z.string() }),
  z.strictObject({ method: z.literal('download'), path: z.string() }),
  z.strictObject({ method: z.literal('empty'), path: z.string() }),
  z.strictObject({ method: z.literal('kill_all') }),
])
export type EnvironmentCall = z.infer<typeof EnvironmentCall>

// Facts that other versions add are left out.
const Ended = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  limitHit: z.enum(['timeoutMs', 'memoryBytes', 'outputBytes', 'processes', 'diskBytes']).optional(),
})

/** What came of a call: the field that its method promises is there. */
export const EnvironmentReply = z.strictObject({
  ended: Ended.optional(),
  process: z.int().optional(),
  output: z.strictObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() }).optional(),
  data: z.string().optional(),
  entries: z
    .array(z.strictObject({ name: z.string(), data: z.string().optional(), mode: z.int() }))
    .optional()
    .describe('Files and folders of what was downloaded; one with an empty name: it is a file.'),
})
export type EnvironmentReply = z.infer<typeof EnvironmentReply>

/** What an agent did. Tokens stay where the model is. */
export const AgentRecord = z.strictObject({
  output: z.string().optional(),
  truncated: z.enum(['max_tokens', 'max_turns', 'context']).optional(),
  prompt_tokens: Count,
  completion_tokens: Count,
  latency_s: z.number().min(0),
  error: RolloutError.optional(),
  is_late: z.literal(true).optional().describe('A limit on its time ended it.'),
  turns: z.array(
    z.strictObject({
      kept: Count.describe('Messages that it shares with the turn before.'),
      messages: z.array(ChatMessage),
      text: z.string(),
      tool_calls: z.array(ToolCall).optional(),
      stop_reason: z.enum(['stop', 'length', 'tool_calls', 'refused', 'abort']),
    }),
  ),
})
export type AgentRecord = z.infer<typeof AgentRecord>

// What crosses when an agent runs in one process and the model that answers it in another: the calls of `OpenInferenceClient`, in words.
/** A conversation to be continued by the policy. */
export const PolicyQuestion = z.strictObject({
  session: z.string().describe('Conversations of one session are one attempt: what was drawn in it stays as tokens.'),
  messages: z.array(ChatMessage),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  stop: z.array(z.string()).optional(),
  seed: z.int(),
  max_tokens: z.int().min(1),
  temperature: z.number().min(0),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
})
export type PolicyQuestion = z.infer<typeof PolicyQuestion>

/** What the policy said, and what that took. Tokens stay where the model is: nothing is trained on these answers. */
export const PolicyAnswer = z.strictObject({
  text: z.string(),
  reasoning: z.string().optional(),
  tool_calls: z.array(ToolCall).optional(),
  stop_reason: z.enum(['stop', 'length', 'tool_calls', 'refused']),
  prompt_tokens: Count,
  completion_tokens: Count,
  latency_s: z.number().min(0),
  cost_usd: z.number().min(0).optional(),
})
export type PolicyAnswer = z.infer<typeof PolicyAnswer>

export const PolicyReply = z.union([
  PolicyAnswer,
  z.strictObject({
    is_too_long: z.literal(true).describe('The conversation is longer than the context of the model.'),
  }),
])
export type PolicyReply = z.infer<typeof PolicyReply>
