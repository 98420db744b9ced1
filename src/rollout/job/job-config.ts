// A job as a file: which agents attempt which tasks, how often, how many at a time. Harbor's names and defaults; the deprecated
// wrapper `orchestrator` is still in most files and holds.
import * as z from 'zod'
import {
  AgentChoice,
  EnvironmentChoice,
  TaskChoice,
  TrialConfig,
  timeoutFields,
  VerifierChoice,
} from '../trial/trial-config.ts'

/** When a failed trial is attempted again. Names are those of `exception_type`; excluded wins over included. */
export const RetryConfig = z.looseObject({
  max_retries: z.int().min(0).default(0),
  include_exceptions: z.array(z.string()).nullish(),
  exclude_exceptions: z
    .array(z.string())
    .nullish()
    .default([
      'AgentTimeoutError',
      'VerifierTimeoutError',
      'RewardFileNotFoundError',
      'RewardFileEmptyError',
      'VerifierOutputParseError',
      'ApiUsageLimitError',
      'AgentSafetyRefusalError',
      'AgentAuthenticationError',
      'ModelNotFoundError',
    ]),
  min_wait_sec: z.number().min(0).default(1),
  wait_multiplier: z.number().positive().default(1),
  max_wait_sec: z.number().min(0).default(60),
})
export type RetryConfig = z.output<typeof RetryConfig>

const DatasetChoice = z.looseObject({
  path: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
  task_names: z.array(z.string()).nullish(),
  exclude_task_names: z.array(z.string()).nullish(),
  n_tasks: z.int().min(1).nullish(),
})
export type DatasetChoice = z.output<typeof DatasetChoice>

const MetricChoice = z.looseObject({ type: z.enum(['mean', 'max', 'min', 'sum']) })

const JobFields = z.looseObject({
  job_name: z.string().min(1).optional(),
  jobs_dir: z.string().min(1).default('jobs'),
  n_attempts: z.int().min(1).default(1),
  n_concurrent_trials: z.int().min(1).default(4),
  retry: RetryConfig.prefault({}),
  ...timeoutFields,
  agents: z
    .array(AgentChoice)
    .min(1)
    .default([AgentChoice.parse({ name: 'oracle' })]),
  datasets: z.array(DatasetChoice).default([]),
  tasks: z.array(TaskChoice).default([]),
  environment: EnvironmentChoice.prefault({}),
  verifier: VerifierChoice.prefault({}),
  metrics: z.array(MetricChoice).default([]),
  artifacts: TrialConfig.shape.artifacts,
  quiet: z.boolean().default(false),
  debug: z.boolean().default(false),
  /** No further trial is started once this many have ended without a score by failures of infrastructure; absent: never. */
  abort_after_failures: z.int().min(1).optional(),
})

/** A whole job. */
export const JobConfig = z
  .preprocess(withoutOrchestrator, JobFields)
  .superRefine(({ agents, n_concurrent_trials }, context) => {
    for (const [index, { n_concurrent }] of agents.entries()) {
      if (n_concurrent === undefined || n_concurrent <= n_concurrent_trials) continue
      context.addIssue({
        code: 'custom',
        path: ['agents', index, 'n_concurrent'],
        message: `it is more than n_concurrent_trials, which is ${n_concurrent_trials}`,
      })
    }
  })
export type JobConfig = z.output<typeof JobConfig>

// What the job itself says wins over the wrapper.
function withoutOrchestrator(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('orchestrator' in value)) return value
  const { orchestrator, ...job } = value
  if (typeof orchestrator !== 'object' || orchestrator === null) return job
  const taken = Object.fromEntries(
    ['n_concurrent_trials', 'quiet', 'retry'].flatMap((key) =>
      key in orchestrator ? [[key, Reflect.get(orchestrator, key)]] : [],
    ),
  )
  return { ...taken, ...job }
}
