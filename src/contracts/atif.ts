// ATIF, the Agent Trajectory Interchange Format: what an agent did, as a document that other tools read. Version 1.7; documents of
// 1.0 to 1.6 are of the same form. Unknown keys are refused everywhere: what is one's own goes into `extra`.
import * as z from 'zod'
import { Count, Text } from './name.ts'

const extra = z.record(z.string(), z.unknown()).optional()
const count = Count
const ids = z.array(count)

/** The versions that can be read; the last one is written. */
export const AtifVersion = z.enum([
  'ATIF-v1.0',
  'ATIF-v1.1',
  'ATIF-v1.2',
  'ATIF-v1.3',
  'ATIF-v1.4',
  'ATIF-v1.5',
  'ATIF-v1.6',
  'ATIF-v1.7',
])
export type AtifVersion = z.infer<typeof AtifVersion>

const AtifPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image'),
    source: z.strictObject({
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      path: Text,
    }),
  }),
])

const AtifContent = z.union([z.string(), z.array(AtifPart)])
export type AtifContent = z.infer<typeof AtifContent>

const AtifToolCall = z.strictObject({
  tool_call_id: Text,
  function_name: Text,
  arguments: z.record(z.string(), z.unknown()),
  extra,
})

const SubagentRef = z
  .strictObject({
    trajectory_id: Text.optional(),
    trajectory_path: Text.optional(),
    session_id: z.string().optional(),
    extra,
  })
  .refine(({ trajectory_id, trajectory_path }) => trajectory_id !== undefined || trajectory_path !== undefined, {
    error: 'a reference to a subagent has a trajectory_id or a trajectory_path',
  })

const ObservationResult = z.strictObject({
  source_call_id: z.string().optional(),
  content: AtifContent.optional(),
  subagent_trajectory_ref: z.array(SubagentRef).optional(),
  extra,
})

export const AtifMetrics = z.strictObject({
  prompt_tokens: count.optional(),
  completion_tokens: count.optional(),
  cached_tokens: count.optional(),
  cost_usd: z.number().min(0).optional(),
  prompt_token_ids: ids.optional(),
  completion_token_ids: ids.optional(),
  logprobs: z.array(z.number()).optional(),
  extra,
})
export type AtifMetrics = z.infer<typeof AtifMetrics>

const agentOnly = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const

export const AtifStep = z
  .strictObject({
    step_id: z.int().min(1),
    timestamp: z.iso.datetime({ offset: true, local: true }).optional(),
    source: z.enum(['system', 'user', 'agent']),
    message: AtifContent,
    model_name: z.string().optional(),
    reasoning_effort: z.union([z.string(), z.number()]).optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(AtifToolCall).optional(),
    observation: z.strictObject({ results: z.array(ObservationResult), extra }).optional(),
    metrics: AtifMetrics.optional(),
    is_copied_context: z.boolean().optional(),
    llm_call_count: count.optional(),
    extra,
  })
  .superRefine((step, context) => {
    const fault = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (step.source !== 'agent') {
      for (const key of agentOnly) {
        if (step[key] !== undefined) fault([key], `only a step of the agent has ${key}`)
      }
    }
    if (step.llm_call_count === 0) {
      for (const key of ['metrics', 'reasoning_content'] as const) {
        if (step[key] !== undefined) fault([key], `a step without a call of the model has no ${key}`)
      }
    }
    if (step.is_copied_context === true && step.metrics !== undefined) {
      fault(['metrics'], 'copied context has no metrics')
    }
    const calls = new Set((step.tool_calls ?? []).map(({ tool_call_id }) => tool_call_id))
    for (const [at, { source_call_id }] of (step.observation?.results ?? []).entries()) {
      if (source_call_id === undefined || calls.has(source_call_id)) continue
      fault(['observation', 'results', at, 'source_call_id'], `no call of this step has the id ${source_call_id}`)
    }
  })
export type AtifStep = z.infer<typeof AtifStep>

const FinalMetrics = z.strictObject({
  total_prompt_tokens: count.optional(),
  total_completion_tokens: count.optional(),
  total_cached_tokens: count.optional(),
  total_cost_usd: z.number().min(0).optional(),
  total_steps: count.optional(),
  extra,
})
export type AtifFinalMetrics = z.infer<typeof FinalMetrics>

/** A trajectory: one document, or one part of a chain that `continued_trajectory_ref` links. */
export const AtifTrajectory = z
  .strictObject({
    schema_version: AtifVersion,
    session_id: z.string().optional(),
    trajectory_id: Text.optional(),
    agent: z.strictObject({
      name: z.string(),
      version: z.string(),
      model_name: z.string().optional(),
      tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
      extra,
    }),
    steps: z.array(AtifStep).min(1),
    notes: z.string().optional(),
    final_metrics: FinalMetrics.optional(),
    continued_trajectory_ref: Text.optional(),
    extra,
    get subagent_trajectories() {
      return z.array(AtifTrajectory).optional()
    },
  })
  .superRefine(({ steps, subagent_trajectories: subagents = [] }, context) => {
    for (const [at, { step_id }] of steps.entries()) {
      if (step_id === at + 1) continue
      const message = `steps are numbered from 1 without gaps: expected ${at + 1}, got ${step_id}`
      context.addIssue({ code: 'custom', path: ['steps', at, 'step_id'], message })
      break
    }
    const known = new Set<string>()
    for (const [at, { trajectory_id }] of subagents.entries()) {
      const path = ['subagent_trajectories', at, 'trajectory_id']
      if (trajectory_id === undefined) {
        context.addIssue({ code: 'custom', path, message: 'an embedded trajectory has a trajectory_id' })
      } else if (known.has(trajectory_id)) {
        context.addIssue({ code: 'custom', path, message: `two subagents have the id ${trajectory_id}` })
      } else known.add(trajectory_id)
    }
  })
export type AtifTrajectory = z.infer<typeof AtifTrajectory>
