// Everything worth telling, as one discriminated union per stream. Producers emit; terminal, store, SSE and files subscribe.
import * as z from 'zod'
import { ErrorRecord, RolloutError } from './error.ts'
import { Level } from './execution.ts'
import { Leak, Split } from './metadata.ts'
import { Count, Text } from './name.ts'
import { PlannedArm, PlannedRun, ResolvedClaim } from './plan.ts'
import { LogLevel } from './plugin.ts'
import { Bounds, Budget, MetricRanges, Metrics, MetricTables, TaskScores, ThinClasses } from './quantity.ts'
import { CandidateFailure } from './research-attempt.ts'
import { ResearchEntry } from './research-journal.ts'
import { Seed } from './run-config.ts'
import { CheckpointKind } from './training-service.ts'

// What a guard of a run found, what was done about it, and the text for people.
/** What went wrong: with the loss of a step, or with a policy that trains on its own answers. */
export const GuardReason = z.enum([
  'nan',
  'spike',
  'entropy_collapse',
  'kl_blowup',
  'reward_hacking',
  'length_explosion',
])
export type GuardReason = z.infer<typeof GuardReason>

/** What was done: recorded and nothing else, back to a checkpoint at a lower rate, or the end of the run. */
export const GuardAction = z.enum(['record', 'roll_back', 'stop'])
export type GuardAction = z.infer<typeof GuardAction>

/** A trip that still stands: no later attempt has taken its step back. */
export const GuardTrip = z.strictObject({
  step: Count,
  reason: GuardReason,
  action: GuardAction,
  rolled_back_to: Count.optional().describe('Absent where it rolled back: to the start of the run.'),
  text: z.string().optional().describe('The numbers that it looked at, in words.'),
})
export type GuardTrip = z.infer<typeof GuardTrip>

/** A trip and the run that it happened in. */
export const RunTrip = GuardTrip.extend({ run: z.string() })
export type RunTrip = z.infer<typeof RunTrip>

const words: Readonly<Record<GuardReason, string>> = {
  nan: 'the loss was no number',
  spike: 'the loss was far above that of the steps before',
  entropy_collapse: 'the entropy of the policy collapsed',
  kl_blowup: 'the policy moved too far',
  reward_hacking: 'the reward rose while the held-out verifier fell',
  length_explosion: 'answers became far longer',
}

/** A trip as people read it. Steps are counted from 1. */
export function tripText({ step, reason, action, rolled_back_to, text }: GuardTrip): string {
  const what = text ?? words[reason]
  const back = rolled_back_to === undefined ? 'the start' : `step ${rolled_back_to + 1}`
  const done = {
    record: 'training continued',
    roll_back: `it resumed from ${back} at half the rate`,
    stop: rolled_back_to === undefined ? 'the run was ended' : `the run was ended with the weights of ${back}`,
  }[action]
  return `${reason.replaceAll('_', ' ')} at step ${step + 1}: ${what}; ${done}`
}

// What went wrong in a run without ending it, counted.
/** Why attempts at tasks of a benchmark failed. */
export const AnswerFailure = z.strictObject({
  message: z.string(),
  count: z.int().min(1),
  cause: z.literal('agent').optional().describe('The agent failed by itself. Absent: there is no reward.'),
})
export type AnswerFailure = z.infer<typeof AnswerFailure>

/** What is counted. */
export const FailureKind = z.enum([
  'answers',
  'agents',
  'rollouts',
  'empty_steps',
  'constant_groups',
  'cut_answers',
  'dropped_rows',
  'cut_rows',
  'leaked_rows',
])
export type FailureKind = z.infer<typeof FailureKind>

/** How often one kind of failure happened in a run. */
export const FailureCount = z.strictObject({
  kind: FailureKind.describe(
    'answers: to benchmarks, without a reward. agents: attempts at benchmarks in which the agent failed. rollouts: of training, failed. ' +
      'empty_steps: trained on nothing. constant_groups: equal rewards. cut_answers: good enough, cut short. dropped_rows, cut_rows: by max_seq_len. leaked_rows: left out, since they repeat questions.',
  ),
  n: Count,
  of: Count,
  message: z.string().optional().describe('The first of them in its words.'),
})
export type FailureCount = z.infer<typeof FailureCount>

/** A count and the run that it is of. */
export const RunFailures = FailureCount.extend({ run: z.string() })
export type RunFailures = z.infer<typeof RunFailures>

/** Counts of the steps up to one, from the checkpoint before it. */
export const StepFailures = z.strictObject({ step: z.int().min(-1), counts: z.array(FailureCount) })
export type StepFailures = z.infer<typeof StepFailures>

// What is reported beside a score that a model gave: what judging took, and how far the judge can be trusted.
const Share = z.tuple([z.number(), z.number()])

const Calibration = z.strictObject({
  n: z.int().min(1).describe('Labels of people.'),
  agreement: z.number(),
  agreement_ci: Share,
  kappa: z.number().nullable().describe('Null: one of the two always says the same.'),
  kappa_ci: Share.nullable(),
})

/** What judging by a model took, and how well the judge agrees with people. */
export const JudgeReport = z.strictObject({
  calls: Count,
  replayed: Count.describe('Questions whose verdict was kept from before.'),
  prompt_tokens: Count,
  completion_tokens: Count,
  cost_usd: z.number().min(0).nullable().describe('Null: the price of a call is not known.'),
  calibration: Calibration.optional().describe(
    'Absent: the benchmark has no judge-labels.jsonl, or no label has a verdict.',
  ),
  labels_failed: Count.optional().describe('Labelled answers that the judge gave no verdict on.'),
})
export type JudgeReport = z.infer<typeof JudgeReport>

/** How well the judge of a benchmark agrees with labels of people. */
export const JudgeAgreement = z.strictObject({
  benchmark: z.string(),
  ...Calibration.partial().shape,
  labels_failed: Count.optional().describe('Labelled answers that the judge gave no verdict on.'),
})
export type JudgeAgreement = z.infer<typeof JudgeAgreement>

/** `stopped`: a budget ended it. `cancelled`: a person did. */
export const RunStatus = z.enum(['pending', 'running', 'completed', 'stopped', 'failed', 'cancelled'])
export type RunStatus = z.infer<typeof RunStatus>

const EndStatus = RunStatus.exclude(['pending', 'running'])

/** What an experiment says of its claim; without a claim it is `exploratory`. */
export const Verdict = z.enum(['supported', 'refuted', 'inconclusive', 'exploratory', 'failed'])
export type Verdict = z.infer<typeof Verdict>

/** Something a run leaves behind, by address: weights, a prompt, a report. */
export const Artifact = z.strictObject({ name: z.string(), kind: z.string(), ref: z.string() })
export type Artifact = z.infer<typeof Artifact>

/** A run of the record. */
export const Origin = z.strictObject({ experiment_id: z.string(), run_id: z.string() })
export type Origin = z.infer<typeof Origin>

/** `seq` counts the events of one run from 1, without gaps and over all its attempts: it is the resume cursor. */
const runEvent = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.object({ seq: z.int().min(1), at: z.iso.datetime(), run_id: Text, type: z.literal(type), ...shape })

/** What happens in one run. */
export const RunEvent = z.discriminatedUnion('type', [
  runEvent('run.started', {
    config_hash: z.string(),
    attempt: z.int().min(1),
    engine_id: z.string().optional(),
    code_hash: z.string().optional().describe('Covers the plugins of the recipe and what they import.'),
    sandbox: Level.optional().describe('How recipe code is shut in.'),
    num_steps: Count.optional(),
    resumed_from_step: Count.optional().describe('Last step that is kept from earlier attempts. Absent: none is.'),
  }),
  runEvent('data.loaded', {
    n_rows: Count,
    data_hash: z.string(),
    n_leaked: Count.optional().describe('Rows left out, since they repeat questions of a benchmark.'),
  }),
  runEvent('step.finished', {
    step: Count,
    metrics: Metrics,
    spent_usd: z
      .number()
      .min(0)
      .optional()
      .describe('What models beside the one in training have cost in this attempt so far. Absent: nothing.'),
  }),
  runEvent('checkpoint.saved', {
    step: Count,
    kind: CheckpointKind,
    ref: Text,
    final: z.boolean().default(false),
  }),
  runEvent('checkpoint.dropped', { step: Count, kind: CheckpointKind }),
  runEvent('eval.started', {
    benchmark: z.string(),
    split: Split,
    step: Count.optional(),
  }),
  runEvent('eval.finished', {
    benchmark: z.string(),
    split: Split,
    step: Count.optional().describe('Absent: scored after training.'),
    metrics: Metrics,
    bounds: Bounds.optional().describe('Present where rewards are missing.'),
    intervals: Bounds.optional().describe('Of the metrics, over tasks; coverage 0.9.'),
    n_tasks: Count,
    n_infra_failed: Count,
    n_agent_failed: Count.optional().describe('Attempts in which the agent failed; each counts as a wrong answer.'),
    failures: z.array(AnswerFailure).optional().describe('Why attempts failed, the most frequent first.'),
    judge: JudgeReport.optional().describe('Present where a model judged.'),
    scorer_hash: z.string(),
    rewards: z
      .record(z.string(), z.array(z.number().nullable()))
      .optional()
      .describe('By task, then sample; null where infrastructure failed.'),
    by_task: TaskScores.optional().describe('What each task adds to metrics that rewards alone do not give.'),
    ranges: MetricRanges.optional().describe('What metrics can be, where their plugins say so.'),
    thin: ThinClasses.optional().describe(
      'Metrics whose intervals are not calibrated, and the class that is too rare.',
    ),
    tables: MetricTables.optional().describe('Of the metrics that give one.'),
    predictions: z.string().optional().describe('Blob of the answers that were scored.'),
    weights: z.string().optional().describe('Address of the weights that answered, or the name of a base model.'),
    system_prompt: z.string().optional().describe('In place of that of the benchmark; empty: none.'),
    project_code: z
      .array(z.string())
      .optional()
      .describe('Plugins of the project that took part in answering: what they do is part of the score.'),
    n_deaths: Count.optional().describe('Times that the evaluator ended by itself, and was asked again.'),
    error: ErrorRecord.optional().describe('Present where it gave no score.'),
  }),
  runEvent('rollout.finished', {
    task_id: z.string(),
    sample: Count,
    step: Count.optional(),
    reward: z.number().optional(),
    error: RolloutError.optional(),
  }),
  runEvent('guard.tripped', {
    step: Count,
    reason: GuardReason,
    action: GuardAction.optional().describe('Absent: it rolled back.'),
    rolled_back_to: Count.optional(),
    text: z.string().optional().describe('The numbers that it looked at, in words.'),
    learning_rate: z.number().optional(),
  }),
  runEvent('notice', {
    text: z.string(),
    artifact: Artifact.optional().describe('What its algorithm left.'),
    reused_from: Origin.optional().describe('The earlier run that it takes the place of: nothing was trained.'),
  }),
  runEvent('log', { level: LogLevel, text: z.string() }),
  runEvent('run.finished', {
    status: EndStatus,
    error: ErrorRecord.optional(),
    failure: CandidateFailure.optional().describe('Of a candidate: why it has no score.'),
    metrics: Metrics,
    best_step: Count.optional(),
    failures: z.array(FailureCount).optional().describe('What failed within the run, by kind. Absent: nothing.'),
    cost_usd: z.number().min(0).optional(),
    tokens: Count.optional(),
    wall_s: z.number().min(0).optional(),
  }),
])
export type RunEvent = z.infer<typeof RunEvent>

/** A model that stands beside the arms of an experiment for comparison, on one benchmark. It is no arm and ranks nothing. */
export const BaselineScore = z.object({
  model: Text,
  benchmark: z.string(),
  split: Split,
  metrics: Metrics,
  bounds: Bounds.optional(),
  intervals: Bounds.optional().describe('Of the metrics, over tasks; coverage 0.9.'),
  n_tasks: Count,
  n_infra_failed: Count,
  n_agent_failed: Count.optional().describe('Attempts in which the agent failed; each counts as a wrong answer.'),
  failures: z.array(AnswerFailure).optional().describe('Why attempts failed, the most frequent first.'),
  scorer_hash: z.string(),
  cost_usd: z.number().min(0).nullable().describe('Null: unknown.'),
  error: ErrorRecord.optional().describe('Present where it gave no score.'),
})
export type BaselineScore = z.infer<typeof BaselineScore>

const experimentEvent = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.object({ seq: z.int().min(1), at: z.iso.datetime(), experiment_id: Text, type: z.literal(type), ...shape })

/** What happens to an experiment as a whole. Its runs have separate streams. */
export const ExperimentEvent = z.discriminatedUnion('type', [
  experimentEvent('experiment.started', {
    name: z.string(),
    hypothesis: z.string().optional(),
    config_hash: z.string(),
    n_arms: z.int().min(1),
    n_runs: z.int().min(1),
  }),
  experimentEvent('run.queued', {
    run_id: z.string(),
    run_name: z.string(),
    arm: z.string(),
    seed: Seed,
  }),
  experimentEvent('run.added', {
    run_id: Text,
    run: PlannedRun,
    arm: PlannedArm.optional().describe('Present where the run is the first of its arm.'),
    parent_run: z.string().optional(),
  }),
  experimentEvent('research', { entry: ResearchEntry }),
  experimentEvent('budget.warned', {
    resource: Budget.keyof(),
    used: z.number().min(0),
    cap: z.number().positive(),
  }),
  experimentEvent('experiment.resumed', {
    earlier_s: z.number().min(0).describe('Time that the executions before this one took together.'),
  }),
  experimentEvent('notice', { text: z.string() }),
  experimentEvent('baseline.finished', { ...BaselineScore.shape }),
  experimentEvent('data.leaked', { ...Leak.shape }),
  experimentEvent('engine.measured', {
    engine_id: z.string(),
    gflops: z.number().positive(),
  }),
  experimentEvent('experiment.finished', {
    status: EndStatus,
    verdict: Verdict,
    best_arm: z.string().optional(),
    conclusion: z.string(),
    claim: ResolvedClaim.optional().describe('Of a research session, which learns at its end what it claims.'),
  }),
])
export type ExperimentEvent = z.infer<typeof ExperimentEvent>
