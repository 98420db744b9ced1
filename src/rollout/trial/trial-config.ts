// What a trial runs, in Harbor's names: a job file is made of these. Keys that are not known are left alone, known ones are checked.
import * as z from 'zod'
import { Artifact, EnvTable } from '../task/task-config.ts'

// 0 says "not set" in files that exist.
const seconds = z.number().min(0).optional()
const multiplier = z.number().positive().optional()

export const AgentChoice = z.looseObject({
  name: z.string().min(1).optional(),
  import_path: z.string().min(1).optional(),
  model_name: z.string().min(1).optional(),
  /** How many of its runs happen at once; setup and verification are not counted. */
  n_concurrent: z.int().min(1).optional(),
  /** Agents of one group share `n_concurrent`. */
  concurrency_group: z.string().min(1).optional(),
  override_timeout_sec: seconds,
  override_setup_timeout_sec: seconds,
  max_timeout_sec: seconds,
  kwargs: z.record(z.string(), z.unknown()).default({}),
  env: EnvTable.default({}),
})
export type AgentChoice = z.output<typeof AgentChoice>

/** Where trials happen. An absent `type` is chosen by the task. */
export const EnvironmentChoice = z.looseObject({
  type: z.string().min(1).optional(),
  env: EnvTable.default({}),
  kwargs: z.record(z.string(), z.unknown()).default({}),
  delete: z.boolean().default(true),
})
export type EnvironmentChoice = z.output<typeof EnvironmentChoice>

export const VerifierChoice = z.looseObject({
  disable: z.boolean().default(false),
  override_timeout_sec: seconds,
  max_timeout_sec: seconds,
  env: EnvTable.default({}),
})
export type VerifierChoice = z.output<typeof VerifierChoice>

/** Where a task comes from. Folders of this machine are run; the other fields are kept. */
export const TaskChoice = z.looseObject({
  path: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
  git_url: z.string().min(1).optional(),
  git_commit_id: z.string().min(1).optional(),
  source: z.string().nullable().optional(),
})
export type TaskChoice = z.output<typeof TaskChoice>

/** Factors on time limits. A specific one replaces the general one. */
export const timeoutFields = {
  timeout_multiplier: z.number().positive().default(1),
  agent_timeout_multiplier: multiplier,
  verifier_timeout_multiplier: multiplier,
  agent_setup_timeout_multiplier: multiplier,
  environment_build_timeout_multiplier: multiplier,
  /** Longest that a whole trial may take; absent: as long as its phases may. */
  trial_timeout_sec: seconds,
}

const ArtifactEntry = z.union([
  z
    .string()
    .min(1)
    .transform((source) => ({ source, exclude: [] })),
  Artifact,
])

export const TrialConfig = z.looseObject({
  task: TaskChoice,
  trial_name: z.string().default(''),
  ...timeoutFields,
  agent: AgentChoice.prefault({}),
  environment: EnvironmentChoice.prefault({}),
  verifier: VerifierChoice.prefault({}),
  artifacts: z.array(ArtifactEntry).default([]),
  job_id: z.string().optional(),
})
export type TrialConfig = z.output<typeof TrialConfig>

/** The name of an agent: its kind, or where it is imported from. */
export function agentName({ name, import_path }: Pick<AgentChoice, 'name' | 'import_path'>): string {
  return name ?? import_path ?? 'oracle'
}
