// The documents that commands print under --json and that the record keeps of finished work.
import * as z from 'zod'
import { ErrorRecord } from './error.ts'
import { Artifact, BaselineScore, JudgeAgreement, Origin, RunFailures, RunStatus, RunTrip, Verdict } from './events.ts'
import { Level } from './execution.ts'
import { Direction, Leak, Split } from './metadata.ts'
import { Count } from './name.ts'
import { Bounds, Metrics, MetricTable, ThinClass } from './quantity.ts'
import { Seed } from './run-config.ts'

// What a run was trained on, to look at: rows before and after the transforms, and the first batch as tokens with the weight that each
// has in the loss.
export const PlacedRow = z.strictObject({
  place: z.string().describe('Where the row stands in its source: data/train.jsonl:812.'),
  row: z.record(z.string(), z.unknown()),
})
export type PlacedRow = z.infer<typeof PlacedRow>

export const TokenExample = z.strictObject({
  tokens: z.array(z.int()),
  text: z.array(z.string()).describe('What each token stands for.'),
  weights: z.array(z.number()).describe('Weight of each token in the loss; 0: it is context.'),
  length: Count.describe('Tokens of the whole example; the first of them are shown.'),
})
export type TokenExample = z.infer<typeof TokenExample>

const Step = z.strictObject({ kind: z.string(), rows: Count.describe('Rows that came out of it.') })

export const DataPreview = z.strictObject({
  version: z.literal(1),
  rows: Count,
  hash: z.string().describe('Of the rows in their order.'),
  source: Step,
  transforms: z.array(Step),
  before: z.array(PlacedRow).describe('The first rows of the source.'),
  after: z.array(PlacedRow).describe('The first rows after all transforms.'),
  examples: z.array(TokenExample).describe('Of the first batch.'),
})
export type DataPreview = z.infer<typeof DataPreview>

/** The preview of one run, as `run --dry --json` and `show --data --json` print it. */
export const RunDataPreview = z.strictObject({
  run_id: z.string(),
  name: z.string(),
  arm: z.string(),
  seed: Seed,
  preview: DataPreview.nullable().describe('Null: the run trains on no data, or has not begun.'),
})
export type RunDataPreview = z.infer<typeof RunDataPreview>

/** Which chance an interval holds. */
export const IntervalOver = z
  .enum(['both', 'tasks', 'seeds'])
  .describe(
    'Which chance the interval holds: of seeds and tasks; of tasks alone, with one seed or seeds that are all alike; of seeds alone, where scores of single tasks are not known.',
  )
export type IntervalOver = z.infer<typeof IntervalOver>

/** A mean over `n` seeds with its interval on tasks like these. */
export const Score = z.strictObject({
  mean: z.number(),
  ci: z.tuple([z.number(), z.number()]).nullable().describe('Null when one value says nothing about spread.'),
  over: IntervalOver.optional(),
  too_few: ThinClass.optional().describe('The interval is not calibrated: of this class there are too few tasks.'),
  n: z.int().min(1),
})
export type Score = z.infer<typeof Score>

/** The score of an arm on one benchmark by one metric, of the checkpoint that was selected. */
export const BenchmarkScore = z.strictObject({
  benchmark: z.string(),
  split: Split,
  metric: z.string(),
  selects: z.boolean().describe('It chose checkpoint and best arm; a score that was chosen by is flattered.'),
  score: Score,
  by_seed: z.array(z.strictObject({ seed: z.int(), value: z.number() })),
})
export type BenchmarkScore = z.infer<typeof BenchmarkScore>

/** One arm: its runs over all seeds. */
export const ArmResult = z.strictObject({
  name: z.string(),
  status: RunStatus,
  params: z.record(z.string(), z.unknown()),
  seeds: z.array(Seed),
  tags: z.array(z.string()).optional(),
  score: Score.nullable().describe('Null: no run of it has the objective’s metric.'),
  scores: z.array(BenchmarkScore).optional().describe('On every benchmark, by every metric.'),
  error: ErrorRecord.optional(),
})
export type ArmResult = z.infer<typeof ArmResult>

const JudgedBy = z.strictObject({ metric: z.string(), direction: Direction })

/** An engine that runs were trained on. */
export const UsedEngine = z.strictObject({
  id: z.string().describe('Equal ids give equal bytes for equal seeds.'),
  threads: z.int().min(1).nullable().describe('Null: the service does not report it.'),
  n_runs: z.int().min(1),
  gflops: z.number().positive().optional().describe('10^9 operations per second, as its machine measured once.'),
})
export type UsedEngine = z.infer<typeof UsedEngine>

/** `evsys import --json`. */
export const ImportResult = z.strictObject({
  experiment_id: z.string(),
  n_runs: Count,
  n_kept: Count,
})
export type ImportResult = z.infer<typeof ImportResult>

/** What an algorithm with `train` returns and what `run_result.json` holds. */
export const RunResult = z.strictObject({
  run_id: z.string(),
  status: RunStatus.exclude(['pending', 'running']),
  metrics: Metrics,
  artifacts: z.array(Artifact),
  error: ErrorRecord.optional(),
})
export type RunResult = z.infer<typeof RunResult>

// The numbers behind a conclusion. Computed from stored scores, never written by hand; prose is made from these alone.
const IntervalPair = z.tuple([z.number(), z.number()])

/** One treatment against one baseline. */
export const PairEvidence = z.strictObject({
  treatment: z.string(),
  baseline: z.string(),
  effect: z.number().describe('Mean improvement; positive is better whatever the direction.'),
  interval: IntervalPair.nullable().describe('On tasks like these, seeds and tasks both by chance: it decides.'),
  over: IntervalOver.optional(),
  too_few: ThinClass.optional().describe('The interval is not calibrated: of this class there are too few tasks.'),
  seed_interval: IntervalPair.nullable()
    .optional()
    .describe('On these very tasks, seeds alone by chance: the detail. Null with one seed.'),
  transfer_interval: IntervalPair.nullable()
    .optional()
    .describe('Of older records, in which `interval` was over seeds alone: that over seeds and tasks.'),
  confidence: z.number(),
  n_seeds: z.int(),
  n_tasks: z.int().nullable(),
  seed_variance: z.number().nullable(),
  task_variance: z.number().nullable(),
  residual_variance: z.number().nullable(),
  limited_by: z.enum(['seeds', 'tasks', 'residual']).nullable(),
  p_sign_flip: z.number().nullable().describe('Over seeds alone. Null where so few seeds cannot reach a small value.'),
  evidence: z.number().describe('Over seeds alone, anytime-valid; 20 or more is strong.'),
  verdict: z.enum(['supported', 'refuted', 'inconclusive']),
  reason: z.string(),
  seeds_still_needed: z.int().nullable(),
})
export type PairEvidence = z.infer<typeof PairEvidence>

export const ArmEvidence = z.strictObject({
  name: z.string(),
  status: RunStatus,
  score: Score.nullable(),
  by_seed: z.array(z.strictObject({ seed: z.int(), value: z.number() })),
  scores: z.array(BenchmarkScore).optional().describe('On every benchmark, by every metric.'),
  n_failed: z.int(),
  error: ErrorRecord.optional(),
})
export type ArmEvidence = z.infer<typeof ArmEvidence>

/** What a chain of datasets kept and lost, benchmark by benchmark. */
export const Forgetting = z.strictObject({
  benchmarks: z.array(z.strictObject({ name: z.string(), metric: z.string(), direction: Direction })),
  stages: z
    .array(z.strictObject({ arm: z.string(), scores: z.array(z.number().nullable()) }))
    .describe('After each dataset, in order: the mean over seeds on every benchmark.'),
  mix: z
    .strictObject({ arm: z.string(), scores: z.array(z.number().nullable()) })
    .nullable()
    .describe('All datasets at once, where that was asked for.'),
  lost: z
    .array(z.number().nullable())
    .describe('By benchmark: the best score of an earlier stage less the last one; negative is a gain.'),
})
export type Forgetting = z.infer<typeof Forgetting>

const PartOfEffect = z.strictObject({ effect: z.number(), interval: IntervalPair.nullable() })

/** How much of the difference between two benchmarks is that their mix of classes is another. */
export const ClassMix = z.strictObject({
  of_mix: PartOfEffect.describe('The baseline’s scores by label, weighed by the other’s shares, less its score.'),
  within: PartOfEffect.describe('What is left: the change within classes.'),
  labels: z.array(
    z.strictObject({
      label: z.string(),
      shares: z.tuple([z.number(), z.number()]).describe('Of the tasks: on the baseline’s benchmark, on the other.'),
      scores: z.tuple([z.number().nullable(), z.number().nullable()]).describe('Null: no such task.'),
    }),
  ),
})
export type ClassMix = z.infer<typeof ClassMix>

/** What the comparison of a claim found. */
export const ClaimEvidence = z.strictObject({
  benchmark: z.string(),
  baseline_benchmark: z.string().optional().describe('Where the baseline was scored, if that is another one.'),
  metric: z.string(),
  mix: ClassMix.nullable().optional().describe('Between benchmarks. Null: `unmixed` says why.'),
  unmixed: z.string().optional(),
  min_effect: z.number(),
  p: z.number().optional().describe('One-sided, of "no better than min_effect"; where there are several claims.'),
  p_adjusted: z.number().optional().describe('By Holm over all claims; `overall` holds the interval at that level.'),
  overall: PairEvidence,
  pairs: z.array(PairEvidence),
})
export type ClaimEvidence = z.infer<typeof ClaimEvidence>

export const Evidence = z.strictObject({
  verdict: Verdict,
  objective: z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction }).nullable(),
  best_arm: z.string().nullable(),
  tied: z.array(z.string()).optional().describe('Other arms with the same score as the best one.'),
  chosen_among: z.int().describe('Arms that the best one was chosen from; more than one: confirm it on fresh seeds.'),
  arms: z.array(ArmEvidence),
  claim: ClaimEvidence.nullable().describe('Of several claims, the first.'),
  claims: z
    .array(ClaimEvidence.nullable())
    .optional()
    .describe('Where there are several, in the order of the file; null: its arms have no scores in common.'),
  forgetting: Forgetting.optional().describe('Present where datasets came one after the other.'),
  n_runs: z.int(),
  n_completed: z.int(),
  n_invalid: z.int(),
  n_test_looks: z.int().describe('In-loop evaluations on test benchmarks; each one spends some of what test is for.'),
})
export type Evidence = z.infer<typeof Evidence>

/** What a run scored on one benchmark, of the checkpoint that was selected. */
export const RunScore = z.strictObject({
  benchmark: z.string(),
  split: Split,
  step: Count.optional().describe('Of an evaluation in the loop; absent: after training.'),
  metrics: Metrics,
  bounds: Bounds.optional().describe('Of the metrics that missing rewards leave open.'),
  n_tasks: Count,
  n_infra_failed: Count.describe('Answers without a reward.'),
  scorer_hash: z.string(),
  answers: z.string().optional().describe('File of the answers, with instruction, expected answer and reward.'),
})
export type RunScore = z.infer<typeof RunScore>

export const RunSummary = z.strictObject({
  run_id: z.string(),
  name: z.string(),
  arm: z.string(),
  seed: z.int(),
  stage: Count.optional(),
  status: RunStatus,
  steps: Count.optional(),
  best_step: Count.optional().describe('Of the selected checkpoint, counted from 0; absent: the last.'),
  scores: z.array(RunScore),
  metrics: Metrics.describe('Of the last step of training.'),
  artifacts: z.array(Artifact),
  files: z.string().optional().describe('Its folder; absent: not on this machine.'),
  cost_usd: z.number().min(0).optional(),
  tokens: Count.optional(),
  wall_s: z.number().min(0).optional(),
  invalid: z.string().optional().describe('Why its numbers no longer count.'),
  reused_from: Origin.optional().describe('The earlier run that it repeats: nothing was trained, and it cost nothing.'),
  error: ErrorRecord.optional(),
})
export type RunSummary = z.infer<typeof RunSummary>

/** A table of a metric: what each class scores, which was taken for which. */
export const ResultTable = z.strictObject({
  arm: z.string(),
  benchmark: z.string(),
  split: Split,
  metric: z.string(),
  n_runs: z.int().min(1).describe('Runs that its cells are the mean of.'),
  table: MetricTable,
})
export type ResultTable = z.infer<typeof ResultTable>

/** A task of which answers were wrong. */
export const Mistake = z.strictObject({
  arm: z.string(),
  benchmark: z.string(),
  split: Split,
  task_id: z.string(),
  instruction: z.string(),
  expected: z.string().nullable().describe('Null: the task has no answer to compare with.'),
  answer: z.string().nullable().describe('The most frequent wrong one; null: there was none.'),
  n_wrong: z.int().min(1),
  n_answers: z.int().min(1),
})
export type Mistake = z.infer<typeof Mistake>

/** How a metric moved in one run. */
export const ResultCurve = z.strictObject({
  run: z.string(),
  arm: z.string(),
  seed: z.int(),
  split: z.enum(['train', ...Split.options]).describe('`train`: of training steps; else evaluations in the loop.'),
  metric: z.string(),
  points: z.array(z.tuple([z.number(), z.number()])).describe('Step, counted from 0, and value.'),
})
export type ResultCurve = z.infer<typeof ResultCurve>

const AuthorsWord = z.strictObject({ at: z.string(), author: z.string(), text: z.string() })

/** What a plan can find out about one claim, or about its objective. */
export const PlanPower = z.strictObject({
  benchmark: z.string(),
  baseline_benchmark: z.string().optional().describe('Of a claim between benchmarks.'),
  metric: z.string(),
  pairs: Count.describe('Paired runs: seeds that both sides share, over all pairs of the claim.'),
  tasks: z
    .int()
    .min(1)
    .nullable()
    .describe(
      'Null: not known, or scores are whole; then seeds alone are by chance. Between benchmarks: the harmonic mean of both.',
    ),
  confidence: z.number().describe('Of the interval that decides; of several claims, at the first step of Holm.'),
  power: z.number(),
  min_effect: z.number(),
  variances: z
    .strictObject({ seed: z.number(), task: z.number(), residual: z.number() })
    .nullable()
    .describe('Of a paired difference: between seeds, between tasks, in single cells. Null: unknown.'),
  basis: z
    .union([
      z.strictObject({ from: z.literal('record'), experiments: Count }),
      z.strictObject({ from: z.literal('assumed'), samples: Count }),
    ])
    .nullable(),
  largest: z.number().nullable().describe('Largest effect that the metric can have; null: it has no bound.'),
  detects: z.number().nullable().describe('Smallest true effect that comes out as supported; null: none, or unknown.'),
  detects_with_any_seeds: z
    .number()
    .nullable()
    .describe('What the number of tasks leaves, however many seeds are run.'),
  needed: z
    .strictObject({
      effect: z.number(),
      pairs: Count.nullable().describe('Null: more than 1,000, or no number of seeds.'),
      tasks: Count.nullable().describe('With the pairs of the plan. Null: more than 100,000, no number, or unknown.'),
    })
    .nullable()
    .describe(
      'For a true effect of twice `min_effect`, or of none where a drop is allowed; null: nothing is claimed, or noise is unknown.',
    ),
})
export type PlanPower = z.infer<typeof PlanPower>

/** What runs will take, by the pace of earlier ones. */
const Forecast = z.strictObject({
  runs: Count,
  steps: Count.nullable().describe('Null: unknown until the data is read.'),
  evals: Count.nullable(),
  tokens: Count.nullable(),
  wall_s: z.number().min(0).nullable().describe('Null: no such run was measured.'),
  cost_usd: z.number().min(0).nullable(),
  max_concurrent: Count,
  measured_on: Count.describe('Earlier runs that time, tokens and cost were measured on.'),
})

/** How code of the project was shut in, by the record of when the experiment began. */
export const RecipeCode = z
  .object({
    sandbox: Level.describe('Of run workers; `process`: nothing was shut in.'),
    network: z.array(z.string()).optional().describe('Why it had the network; absent: it had none.'),
    seal: z.enum(['namespace', 'none']).optional().describe('Whether answers of benchmarks were hidden from it.'),
  })
  .describe('How code of the project was shut in; absent: nothing ran, or an older version recorded it.')

/** `evsys run --json` and `evsys show --json`. */
export const ExperimentResult = z.strictObject({
  experiment_id: z.string(),
  name: z.string(),
  status: RunStatus,
  interrupted: z.literal(true).optional().describe('No process works on it, and it can be resumed.'),
  created_at: z.iso.datetime().optional(),
  hypothesis: z.string().nullable().optional(),
  description: z.string().optional(),
  notes: z.string().optional(),
  project_goal_id: z.string().optional(),
  benchmarks: z
    .array(z.strictObject({ name: z.string(), tags: z.array(z.string()) }))
    .optional()
    .describe('Those that have tags.'),
  objective: JudgedBy.nullable(),
  best_arm: z.string().nullable(),
  arms: z.array(ArmResult),
  runs: z.array(RunSummary).optional().describe('In the order of the plan.'),
  tables: z.array(ResultTable).optional().describe('Of metrics that give one, the best arm first.'),
  mistakes: z.array(Mistake).optional().describe('Of the best arm, those that most answers get wrong first.'),
  curves: z.array(ResultCurve).optional().describe('Of training and of evaluations in the loop.'),
  baselines: z.array(BaselineScore).optional().describe('Models that were scored for comparison; none is an arm.'),
  conclusion: z.strictObject({ verdict: Verdict, text: z.string() }).nullable().describe('Null: not finished.'),
  claim: Evidence.shape.claim.optional().describe('What the comparison of the claim found; null: none was declared.'),
  claims: Evidence.shape.claims,
  words: z.array(AuthorsWord).optional().describe('What authors added: `evsys conclude`.'),
  tags: z.array(z.string()).optional(),
  parent: z.string().nullable().optional().describe('Experiment that it follows.'),
  notices: z.array(z.string()).optional(),
  failures: z.array(RunFailures).optional().describe('What failed within runs without ending them, counted.'),
  judges: z.array(JudgeAgreement).optional().describe('Judges against labels of people, where there are labels.'),
  guards: z.array(RunTrip).optional().describe('Where a guard tripped, and what was done.'),
  reusable: Count.optional().describe(
    'Runs of the plan that a run takes from the record, by all that it compares; under --dry alone.',
  ),
  forecast: Forecast.optional().describe('What the other runs of the plan will take; under --dry alone.'),
  power: z.array(PlanPower).optional().describe('What the whole plan can find out; under --dry alone.'),
  leaks: z
    .array(Leak)
    .optional()
    .describe('Training rows that repeat questions, which the experiment allows or drops.'),
  data: z.array(RunDataPreview).optional().describe('What a trial trained on, one run of each arm; under --dry alone.'),
  recipe_code: RecipeCode.optional(),
  engines: z.array(UsedEngine).optional().describe('Of the runs that have begun.'),
  files: z.string().nullable().optional().describe('Folder of its files; null: none on this machine.'),
  cost_usd: z.number().min(0).nullable().describe('Null: unknown. Never zero for unknown.'),
  wall_s: z.number().min(0),
})
export type ExperimentResult = z.infer<typeof ExperimentResult>

/** One entry of `evsys history --json`. */
export const HistoryEntry = z.strictObject({
  experiment_id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  status: z.enum([...RunStatus.options, 'interrupted']),
  hypothesis: z.string().nullable(),
  verdict: Verdict.nullable(),
  objective: JudgedBy.nullable(),
  best: z.strictObject({ arm: z.string(), score: Score }).nullable(),
  effect: PairEvidence.pick({
    treatment: true,
    baseline: true,
    effect: true,
    interval: true,
    confidence: true,
    n_seeds: true,
    n_tasks: true,
  })
    .extend({ benchmark: z.string(), metric: z.string() })
    .nullable()
    .describe('Of the claim; null: none was declared, or it has no scores.'),
  conclusion: z.string().nullable(),
  words: z.array(AuthorsWord).describe('What authors added: `evsys conclude`.'),
  tags: z.array(z.string()),
  parent: z.string().nullable().describe('Experiment that it follows.'),
  cost_usd: z.number().min(0).nullable(),
})
export type HistoryEntry = z.infer<typeof HistoryEntry>
