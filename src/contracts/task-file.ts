// The task file (`task.yaml`): one command with parameters, for jobs and for research. Strict at every level.
import * as z from 'zod'
import { Direction } from './metadata.ts'
import { Name } from './name.ts'
import { Budget } from './quantity.ts'
import { ResearchFields, SecondaryMetric, TaskVariant, VariantName } from './research/task-fields.ts'

const ParameterValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])

// A number, or text that the provider understands, such as `8+`.
const Amount = z.union([z.number().positive(), z.string().min(1)])

/** What a job asks of the machine it runs on. */
export const Resources = z
  .strictObject({
    compute_provider: z.string().min(1).optional().describe('Name of a configured provider.'),
    cpus: Amount.optional().describe('Processor cores.'),
    memory: Amount.optional().describe('GB.'),
    disk_space: Amount.optional().describe('GB.'),
    accelerators: z.string().min(1).optional().describe('`TYPE:COUNT`, e.g. H100:1.'),
    num_nodes: z.int().min(1).optional().describe('Machines of one job.'),
    instance_type: z.string().min(1).optional().describe('Machine type, as the cloud names it.'),
    cloud: z.string().min(1).optional().describe('Cloud of a provider that spans several.'),
    region: z.string().min(1).optional().describe('Region of the cloud.'),
    zone: z.string().min(1).optional().describe('Zone of the region.'),
    use_spot: z.boolean().optional().describe('Cheaper machines that may be taken away.'),
    image_id: z.string().min(1).optional().describe('Machine or container image.'),
    fleet_name: z.string().min(1).optional().describe('Fleet of machines that the job joins.'),
  })
  .describe('What the job needs.')
export type Resources = z.infer<typeof Resources>

export const Sweeps = z
  .strictObject({
    sweep_config: z
      .record(z.string().min(1), z.array(ParameterValue).min(1))
      .describe('Parameter -> values; quoted values take the type of the declared parameter.'),
    sweep_metric: z.string().min(1).default('eval/loss').describe('Metric that ranks the jobs.'),
    lower_is_better: z.boolean().default(true).describe('Whether less of the metric is better.'),
  })
  .describe('One job for every combination of values.')
export type Sweeps = z.infer<typeof Sweeps>

export const TaskFile = z.strictObject({
  $schema: z.string().optional().describe('JSON Schema for editors.'),
  name: Name.describe('Name of the task.'),
  description: z.string().optional().describe('One paragraph for readers.'),
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
  github_repo_dir: z.string().min(1).optional().describe('Folder of the repository that the job runs in.'),
  github_repo_branch: z.string().min(1).optional().describe('Branch, tag or commit; absent: the default branch.'),
  minutes_requested: z.int().min(1).optional().describe('Time that is held for the job in the quota.'),

  metric: z.string().min(1).optional().describe('Research: the score, as the scorer names it.'),
  direction: Direction.optional().describe('Research: whether more of it is better.'),
  unit: z.string().min(1).optional().describe('Research: unit of the metric.'),
  secondary: z
    .array(z.union([z.string().min(1), SecondaryMetric]))
    .default([])
    .describe('Research: other metrics of the scorer. One that is only named is watched and gates nothing.'),
  seeds: z
    .union([z.int().min(1), z.array(z.int().min(0)).min(1)])
    .optional()
    .describe('Research: how many seeds, or which.'),
  budget: Budget.optional().describe('Research: caps on the whole session.'),
  scope: z.array(z.string().min(1)).default([]).describe('Research: files that a candidate may change (globs).'),
  off_limits: z.array(z.string().min(1)).default([]).describe('Research: files that no candidate may change (globs).'),
  scorer: z.string().min(1).optional().describe('Research: the fixed evaluator.'),
  api: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe('Research: modules that candidates import from, read-only beside them.'),
  prompt: z.string().min(1).optional().describe('Research: what the proposer is told about the task.'),
  ...ResearchFields,
  variants: z
    .record(VariantName, TaskVariant)
    .optional()
    .describe('Research: other candidates for the same data and scorer, by name. `NAME/VARIANT` asks for one.'),
})
export type TaskFile = z.infer<typeof TaskFile>
