// What a trial leaves behind as result.json: Harbor's field names, and our own facts under `evsys`.
import * as z from 'zod'
import { Level, RolloutError } from '../../contracts/index.ts'

/** When a phase began and ended. Both are there also when it failed. */
export const Timing = z.looseObject({ started_at: z.string().nullable(), finished_at: z.string().nullable() })
export type Timing = z.infer<typeof Timing>

export const ExceptionInfo = z.looseObject({
  exception_type: z.string(),
  exception_message: z.string(),
  exception_traceback: z.string(),
  occurred_at: z.string(),
})
export type ExceptionInfo = z.infer<typeof ExceptionInfo>

/** What the agent used. Null: not known. */
export const AgentResult = z.looseObject({
  n_input_tokens: z.number().nullable(),
  n_cache_tokens: z.number().nullable(),
  n_output_tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  rollout_details: z.unknown().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
})
export type AgentResult = z.infer<typeof AgentResult>

export const Rewards = z.record(z.string(), z.number())
export type Rewards = z.infer<typeof Rewards>

export const VerifierResult = z.looseObject({ rewards: Rewards.nullable() })
export type VerifierResult = z.infer<typeof VerifierResult>

/** The same facts of one step. */
export const StepResult = z.looseObject({
  step_name: z.string(),
  agent_result: AgentResult.nullable(),
  verifier_result: VerifierResult.nullable(),
  exception_info: ExceptionInfo.nullable(),
  agent_execution: Timing.nullable(),
  verifier: Timing.nullable(),
})
export type StepResult = z.infer<typeof StepResult>

export const AgentInfo = z.looseObject({
  name: z.string(),
  version: z.string(),
  model_info: z.looseObject({ name: z.string(), provider: z.string().nullable() }).nullable(),
})
export type AgentInfo = z.infer<typeof AgentInfo>

/** What Harbor's format has no place for. */
const TrialFacts = z.looseObject({
  /** `completed`: it was scored, or nothing was to be scored. */
  status: z.enum(['completed', 'failed', 'cancelled']),
  /** Why there is no score, or why it is not the whole truth. */
  error: RolloutError.optional(),
  /** How well the environment was shut in. */
  level: Level.optional(),
  truncated: z.string().optional(),
  n_turns: z.int().optional(),
  warnings: z.array(z.string()),
})
export type TrialFacts = z.infer<typeof TrialFacts>

export const TrialResult = z.looseObject({
  id: z.string(),
  task_name: z.string(),
  trial_name: z.string(),
  trial_uri: z.string(),
  task_id: z.record(z.string(), z.unknown()),
  source: z.string().nullable(),
  task_checksum: z.string(),
  config: z.record(z.string(), z.unknown()),
  agent_info: AgentInfo,
  agent_result: AgentResult.nullable(),
  verifier_result: VerifierResult.nullable(),
  verifier_environment_mode: z.enum(['shared', 'separate']).nullable(),
  exception_info: ExceptionInfo.nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  environment_setup: Timing.nullable(),
  agent_setup: Timing.nullable(),
  agent_execution: Timing.nullable(),
  verifier: Timing.nullable(),
  step_results: z.array(StepResult).nullable(),
  evsys: TrialFacts.optional(),
})
export type TrialResult = z.infer<typeof TrialResult>
