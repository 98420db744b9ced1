// Why the experiment is run and how it is judged: hypothesis, objective, claim, benchmarks.
import * as z from 'zod'
import { LeakPair } from './error.ts'
import { Count, Name, Text } from './name.ts'
import { Kind, Params, PluginSpec } from './plugin.ts'
import { DataConfig } from './run-config.ts'

// One benchmark of an experiment: which tasks, when they are scored, by which metrics.
// In-loop and final scoring share every default, so that their numbers compare.
export const Split = z.enum(['val', 'test'])
export type Split = z.infer<typeof Split>

export const ChatTemplate = z.strictObject({
  system_prompt: z.string().optional().describe('Put before the task’s instruction.'),
  user_template: z.string().optional().describe('Wraps the instruction: `{prompt}` is replaced.'),
})

export const ModelEntry = z.union(
  [
    Text,
    z
      .looseObject({
        kind: Text.describe('Client that reaches the model: openai_compatible, anthropic, ...'),
        name: Text.optional().describe('What the model is called beside the arms; absent: kind and model.'),
        params: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('Params of the client; they may also stand beside kind.'),
      })
      .describe('A client with its params: { kind: openai_compatible, base_url: ..., model: ... }.'),
  ],
  { error: 'expected text, or a client: { kind: openai_compatible, base_url: ..., model: ... }' },
)
export type ModelEntry = z.infer<typeof ModelEntry>

/** A metric of a benchmark: its kind alone, or with params and a name for its numbers. */
export const MetricEntry = z.union(
  [
    Kind,
    z.strictObject({
      kind: Kind,
      name: Kind.optional().describe('What its numbers are called; absent: its kind.'),
      params: Params.default({}),
    }),
  ],
  { error: 'expected a metric, or one with params: { kind: macro_f1, params: { ignore_case: true } }' },
)
export type MetricEntry = z.infer<typeof MetricEntry>

/** Name, kind and params of a metric, however it is written. */
export function metricSpec(entry: MetricEntry): { name: string; kind: string; params: Params } {
  if (typeof entry === 'string') return { name: entry, kind: entry, params: {} }
  const { kind, name = kind, params } = entry
  return { name, kind, params }
}

/** The entry that a metric name belongs to: its own, or one of which it is a part (`per_class/f1:billing`). */
export function metricNamed(
  entries: readonly MetricEntry[],
  metric: string,
): ReturnType<typeof metricSpec> | undefined {
  const specs = entries.map(metricSpec)
  return specs.find(({ name }) => name === metric) ?? specs.find(({ name }) => metric.startsWith(`${name}/`))
}

export const BenchmarkEntry = z.strictObject({
  name: Name.optional().describe(
    'Label and metric namespace; absent: the id, the last part of the path, or `benchmark_<i>`.',
  ),
  path: Text.optional().describe('Benchmark folder (tasks.jsonl, metadata.yaml), relative to this file.'),
  id: Text.optional().describe('Named benchmark of the project: NAME@VERSION, or NAME for its newest version.'),
  data: DataConfig.optional().describe('Tasks made from data rows instead of a stored benchmark.'),
  run_every: Count.default(0).describe('N > 0: scored after every N training steps; 0: once, after training.'),
  split: Split.default('val').describe('`val` may select checkpoints and arms; `test` only confirms.'),
  tags: z.array(Text).default([]).describe('Free labels.'),
  metrics: z
    .array(MetricEntry)
    .min(1)
    .default(['mean_reward', 'pass_rate'])
    .describe('Metrics: pass@1, pass^3, macro_f1, or with params: { kind: macro_f1, params: { ignore_case: true } }.'),
  num_samples: z
    .int()
    .min(1)
    .max(10_000)
    .default(1)
    .describe('Rollouts per task; absent: the largest k of pass@k and pass^k among its metrics, else 1.'),
  max_tokens: z.int().min(1).default(512).describe('Longest completion.'),
  temperature: z.number().min(0).default(0).describe('Sampling temperature.'),
  limit: z.int().min(1).optional().describe('First N tasks, in benchmark order.'),
  breakdown_keys: z
    .array(Text)
    .default([])
    .describe('Dotted paths into task metadata; scores are also reported by their values.'),
  chat_template: ChatTemplate.default({}).describe('How the instruction becomes a prompt.'),
  engine: z
    .enum(['harbor', 'in_process', ''])
    .default('harbor')
    .describe(
      'Who answers: `harbor`, the agent where there is one; `in_process` or empty, one completion of the model.',
    ),
  n_concurrent: z.int().min(1).max(10_000).default(8).describe('Rollouts at a time.'),
  models: z
    .array(ModelEntry)
    .default([])
    .describe(
      'Models scored on the same tasks for comparison, none of them an arm: claude-sonnet-4-6, openai:NAME, evsys/tiny, base_model for the untrained one, or a client: { kind: openai_compatible, base_url: ..., model: ... }.',
    ),
  inference: PluginSpec.optional().describe('Client that answers its tasks instead of the trained checkpoint.'),
  verifier: PluginSpec.optional().describe('Scores rows that name no verifier.'),
  agent: PluginSpec.optional().describe('Harness for these rollouts; absent: the run’s.'),
  environment: PluginSpec.optional().describe('Where its task folders are attempted; absent: the run’s.'),
  leaks: z
    .enum(['error', 'allow_near', 'allow'])
    .optional()
    .describe(
      'Training rows that repeat its questions: an error, the default; or allowed and recorded, near repeats alone or all.',
    ),
})
export type BenchmarkEntry = z.infer<typeof BenchmarkEntry>

/** Samples of each task that metrics need by their names: the largest k of pass@k and pass^k, else 1. */
export function samplesNamed(metrics: readonly string[]): number {
  return Math.max(1, ...metrics.map((metric) => Number(/^pass[@^](\d+)$/.exec(metric)?.[1] ?? 1)))
}

/** A benchmark of a loaded experiment: it always has a name. */
export const Benchmark = BenchmarkEntry.extend({ name: Name.describe('Label and metric namespace.') })
export type Benchmark = z.infer<typeof Benchmark>

/** `<benchmark>.<metric>`, or a bare metric: then the first val-split benchmark that has it. */
export const MetricRef = Text.describe(
  '`<benchmark>.<metric>`, or a bare metric of the val-split benchmark; with no benchmark declared, a training metric such as loss.',
)

export const Direction = z.enum(['max', 'min'])
export type Direction = z.infer<typeof Direction>

export const Objective = z.strictObject({
  metric: MetricRef,
  direction: Direction.optional().describe(
    'Absent: the metric’s own direction, which is max unless the metric says otherwise.',
  ),
})
export type Objective = z.infer<typeof Objective>

/** An arm by name, by axis values (`{ algorithm.kind: sft }`), or `base_model`. */
export const ArmRef = z
  .union([Text, z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))])
  .describe(
    'Arm name, axis values such as { algorithm.kind: sft }, or base_model. On both sides, ARM@BENCHMARK compares scores on two benchmarks.',
  )
export type ArmRef = z.infer<typeof ArmRef>

export const Claim = z.strictObject({
  treatment: ArmRef,
  baseline: ArmRef,
  metric: MetricRef.optional().describe('Absent: the objective’s metric.'),
  direction: Direction.optional().describe('Absent: the objective’s where the metric is its own, else the metric’s.'),
  min_effect: z.number().min(0).default(0).describe('Smallest improvement that counts.'),
  max_drop: z
    .number()
    .min(0)
    .optional()
    .describe('In place of min_effect: supported where no more than this is lost, as on newer tasks.'),
  confidence: z.number().min(0.5).max(0.999).default(0.9).describe('Coverage of the interval that decides.'),
})
export type Claim = z.infer<typeof Claim>

export const Metadata = z.strictObject({
  hypothesis: Text.optional().describe('Why this is run: one or two sentences that can turn out wrong.'),
  notes: z.string().optional().describe('Anything a reader should know.'),
  tags: z.array(Text).default([]).describe('Free labels of the experiment.'),
  project_goal_id: Text.optional().describe('Goal that this experiment serves.'),
  objective: Objective.optional().describe('What ranks the arms.'),
  claim: Claim.optional().describe('What would make the hypothesis true, in numbers.'),
  claims: z
    .array(Claim)
    .min(1)
    .max(100)
    .optional()
    .describe('Several claims in place of one, each on any benchmark; their verdicts are adjusted by Holm.'),
  benchmark: z.array(Benchmark).default([]).describe('What every run is scored on.'),
  extra: z.record(z.string(), z.unknown()).optional().describe('Stored, never read.'),
})
export type Metadata = z.infer<typeof Metadata>

/** Training rows that repeat questions of a benchmark, where the experiment allows or drops them. */
export const Leak = z.strictObject({
  benchmark: z.string(),
  arms: z.array(z.string()).min(1).describe('Those that train on these rows.'),
  rows: Count.describe('Training rows that were compared.'),
  exact: Count,
  near: Count,
  pairs: z.array(LeakPair).describe('Where each row stands, and which task it repeats; of older records, the first.'),
  dropped: z.literal(true).optional().describe('The rows were left out of training.'),
})
export type Leak = z.infer<typeof Leak>
