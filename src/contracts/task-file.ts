// The task file (`task.yaml`): one command with parameters, for jobs and for research. Strict at every level.
import * as z from 'zod'
import { Direction } from './metadata.ts'
import { Name } from './name.ts'
import { Budget } from './quantity.ts'

const ParameterValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])

export const Resources = z
  .strictObject({
    compute_provider: z.string().min(1).optional().describe('Name of a configured provider.'),
    cpus: z.union([z.number().positive(), z.string().min(1)]).optional(),
    memory: z
      .union([z.number().positive(), z.string().min(1)])
      .optional()
      .describe('GB.'),
    disk_space: z
      .union([z.number().positive(), z.string().min(1)])
      .optional()
      .describe('GB.'),
    accelerators: z.string().min(1).optional().describe('`TYPE:COUNT`, e.g. H100:1.'),
    num_nodes: z.int().min(1).optional(),
    instance_type: z.string().min(1).optional(),
    cloud: z.string().min(1).optional(),
    region: z.string().min(1).optional(),
    zone: z.string().min(1).optional(),
    use_spot: z.boolean().optional(),
    image_id: z.string().min(1).optional(),
    fleet_name: z.string().min(1).optional(),
  })
  .describe('What the job needs.')
export type Resources = z.infer<typeof Resources>

export const Sweeps = z.strictObject({
  sweep_config: z
    .record(z.string().min(1), z.array(ParameterValue).min(1))
    .describe('Parameter -> values; quoted values take the type of the declared parameter.'),
  sweep_metric: z.string().min(1).default('eval/loss'),
  lower_is_better: z.boolean().default(true),
})
export type Sweeps = z.infer<typeof Sweeps>

export const TaskFile = z.strictObject({
  $schema: z.string().optional().describe('JSON Schema for editors.'),
  name: Name,
  description: z.string().optional(),
  run: z.string().min(1).describe('Shell command of the job.'),
  setup: z.string().optional().describe('Shell commands before it.'),
  resources: Resources.optional(),
  envs: z
    .record(z.string(), z.string())
    .default({})
    .describe('Environment; values may hold {{secret.NAME}} or ${secret:NAME}.'),
  parameters: z
    .record(z.string().min(1), ParameterValue)
    .default({})
    .describe('Read by the job; `--param` may override declared ones.'),
  sweeps: Sweeps.optional(),
  github_repo_url: z.string().min(1).optional().describe('Code source.'),
  github_repo_dir: z.string().min(1).optional(),
  github_repo_branch: z.string().min(1).optional(),
  minutes_requested: z.int().min(1).optional(),

  metric: z.string().min(1).optional().describe('Research: the score, as the scorer names it.'),
  direction: Direction.optional().describe('Research: whether more of it is better.'),
  unit: z.string().min(1).optional().describe('Research: unit of the metric.'),
  secondary: z.array(z.string().min(1)).default([]).describe('Research: metrics that are watched and gate nothing.'),
  seeds: z
    .union([z.int().min(1), z.array(z.int().min(0)).min(1)])
    .optional()
    .describe('Research: how many seeds, or which.'),
  budget: Budget.optional().describe('Research: caps on the whole session.'),
  scope: z.array(z.string().min(1)).default([]).describe('Research: files that a candidate may change (globs).'),
  off_limits: z.array(z.string().min(1)).default([]).describe('Research: files that no candidate may change (globs).'),
  scorer: z.string().min(1).optional().describe('Research: the fixed evaluator.'),
  api: z.string().min(1).optional().describe('Research: module that candidates import from.'),
  prompt: z.string().min(1).optional().describe('Research: what the proposer is told about the task.'),
})
export type TaskFile = z.infer<typeof TaskFile>
