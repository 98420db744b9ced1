// Errors as data: what failed, where, how to fix it. The class that carries them lives in the kernel.
import * as z from 'zod'

/** Every way evsys can fail. A code names the boundary that was crossed; docs/reference/errors.md explains each. */
export const ErrorCode = z.enum([
  'CLI_USAGE',
  'PROJECT_EXISTS',
  'PROJECT_MISSING',
  'CONFIG_READ',
  'CONFIG_SYNTAX',
  'CONFIG_INVALID',
  'CONFIG_UNKNOWN_KEY',
  'CONFIG_CONFLICT',
  'CONFIG_EXTENDS',
  'CONFIG_SET',
  'CONFIG_MATRIX',
  'CONFIG_NAME',
  'CONFIG_OBJECTIVE',
  'CONFIG_CLAIM',
  'CONFIG_PATH',
  'EDIT_INVALID',
  'EDIT_PROTECTED',
  'PLUGIN_UNKNOWN',
  'PLUGIN_PARAMS',
  'PLUGIN_LOAD',
  'PLUGIN_INVALID',
  'PLUGIN_CONFLICT',
  'PLUGIN_CHANGED',
  'PLUGIN_FAILED',
  'DATA_READ',
  'DATA_INVALID',
  'DATA_LEAK',
  'MODEL_MISSING',
  'MODEL_INVALID',
  'BACKEND_FAILED',
  'BACKEND_REFUSED',
  'INFERENCE_FAILED',
  'INFERENCE_REFUSED',
  'CASSETTE_MISSING',
  'RUN_DIVERGED',
  'RUN_EMPTY',
  'WORKER_DIED',
  'WORKER_HUNG',
  'WORKER_FLOODED',
  'WORKER_LIMIT',
  'BUDGET_EXCEEDED',
  'STORE_FAILED',
  'STORE_TOO_NEW',
  'STORE_CONFLICT',
  'STORE_MISSING',
  'STORE_AMBIGUOUS',
  'SECRET_MISSING',
  'SANDBOX_MISSING',
  'SANDBOX_FAILED',
  'SEAL_FAILED',
  'ENVIRONMENT_FAILED',
  'ENVIRONMENT_REFUSED',
  'AGENT_FAILED',
  'AGENT_TIMEOUT',
  'VERIFIER_FAILED',
  'REWARD_INVALID',
  'TRIAL_TIMEOUT',
  'FILE_FAILED',
  'BLOB_MISSING',
  'BLOB_CORRUPT',
  'INTERRUPTED',
  'INTERNAL',
])
export type ErrorCode = z.infer<typeof ErrorCode>

/** A place in a text that a person wrote: 1-based line and column, and the dotted path of the value. */
export const Location = z.strictObject({
  file: z.string(),
  line: z.int().min(1),
  col: z.int().min(1),
  path: z.string().optional(),
})
export type Location = z.infer<typeof Location>

/** A training row that repeats the question of a task. */
export const LeakPair = z.strictObject({
  place: z.string(),
  task_id: z.string(),
  kind: z.enum(['exact', 'near']),
  share: z.number(),
})
export type LeakPair = z.infer<typeof LeakPair>

/** An error as `--json` prints it and as the record stores it. */
export const ErrorRecord = z.strictObject({
  code: ErrorCode,
  message: z.string(),
  where: Location.optional(),
  fix: z.string().optional(),
  pairs: z.array(LeakPair).optional().describe('Of DATA_LEAK: all rows that repeat questions.'),
})
export type ErrorRecord = z.infer<typeof ErrorRecord>

/** Why a rollout has no result. `infra`: not the answer's fault, so it is retried and never counts as a wrong answer. */
export const RolloutError = ErrorRecord.extend({ infra: z.boolean() })
export type RolloutError = z.infer<typeof RolloutError>

/** The document that a failing command prints under `--json`. */
export const ErrorReport = z.strictObject({ errors: z.array(ErrorRecord).min(1) })
export type ErrorReport = z.infer<typeof ErrorReport>
