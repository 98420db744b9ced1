// The journal of a research session: everything that was decided, asked, answered and measured, in the order it happened. The
// state of a session is the fold over it (`reduceResearch`). Outputs of proposer calls and of candidates stand here before they
// are used, so that a session that was killed resumes as if nothing had happened.
import * as z from 'zod'
import { EditCatalog } from './edit-catalog.ts'
import { Level } from './execution.ts'
import { KnobSpec, Knobs } from './knob.ts'
import { Direction } from './metadata.ts'
import { Count, Text } from './name.ts'
import { PluginSpec } from './plugin.ts'
import { Duration, Metrics } from './quantity.ts'
import {
  AttemptFailure,
  AttemptVerdict,
  Idea,
  IdeaCategory,
  MeasuredGain,
  SearchMode,
  SeedScore,
} from './research-attempt.ts'
import { MetricBounds, SecondaryMetric } from './task-file.ts'

// What a research session was begun with. It never changes, so that a session resumed after a crash is the same session.
/** Caps on a whole session. Reaching one ends it; no step is begun whose forecast goes beyond one. */
export const ResearchBudget = z.strictObject({
  experiments: z.int().positive().optional().describe('Attempts besides the baseline.'),
  runs: z
    .int()
    .positive()
    .optional()
    .describe('Runs of candidates in all: baseline, races, ablations and confirmation.'),
  wall: Duration.optional().describe('Time that a controller works on the session.'),
  tokens: z.int().positive().optional().describe('Tokens of the proposer, in and out.'),
  usd: z.number().positive().optional().describe('US dollars; a call whose cost is unknown is charged its forecast.'),
})
export type ResearchBudget = z.infer<typeof ResearchBudget>

/** Which of the candidates that are good enough is chosen. */
export const ChoiceRule = z.strictObject({
  cheapest: Text.describe('Metric of the validation benchmark: `tokens_per_task`, `latency_p50`, `cost_per_task`.'),
  direction: Direction.default('min').describe('Whether more of it is better.'),
  within: z
    .number()
    .min(0)
    .describe('Of what is no further below the best than this, in units of the objective, the cheapest is chosen.'),
})
export type ChoiceRule = z.infer<typeof ChoiceRule>

export const SessionSettings = z.strictObject({
  task: Text,
  reference: z
    .string()
    .optional()
    .describe('As the task was asked for, where that is not its name: a variant, or a folder.'),
  task_hash: z.string().describe('Scores compare only where it is equal.'),
  metric: Text,
  direction: Direction,
  unit: z.string().optional(),
  secondary: z.array(SecondaryMetric).default([]),
  choice: ChoiceRule.optional().describe('Absent: the best by the metric alone.'),
  space: z.record(z.string(), KnobSpec).default({}),
  catalog: EditCatalog.optional().describe('Candidates are experiment files: what turning a knob writes into them.'),
  off_limits: z.array(z.string()).optional().describe('Parts of the file that no candidate may change.'),
  scope: z.array(z.string()).optional().describe('Plugin files beside the file that a candidate may write.'),
  train_seconds: z.number().positive(),
  seed: Count.describe('Root of all randomness of the session itself.'),
  seeds: z.array(Count).min(1).describe('Of search, in the order of use.'),
  strategy: PluginSpec,
  keep_rule: PluginSpec,
  proposer: PluginSpec,
  workers: z.int().min(1),
  budget: ResearchBudget,
  noise_runs: z.int().min(1).describe('Seeds on which the baseline is measured first.'),
  control_every: Count.describe('Attempts between two control runs of the incumbent; 0: none.'),
  confirm_every: Count.describe('Keeps between two confirmations; 0: at the end alone.'),
  bounds: MetricBounds.optional(),
  timed: z
    .boolean()
    .optional()
    .describe('The metric measures time: the incumbent is measured again beside each candidate.'),
  rules: z
    .int()
    .min(1)
    .max(2)
    .optional()
    .describe('Version of the decisions, so that a session that is resumed decides as it was begun; absent: 1.'),
  hidden_test: z
    .boolean()
    .optional()
    .describe('False: the task has neither a hidden test set nor fresh seeds, and nothing is confirmed.'),
})
export type SessionSettings = z.infer<typeof SessionSettings>

/** Files by path, where they differ from those of the base; null: it is not there any more. */
export const FileChanges = z.record(Text, z.string().nullable())
export type FileChanges = z.infer<typeof FileChanges>

/** What a call to a proposer took. Absent parts are unknown. */
export const CallUsage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  cached_prompt_tokens: Count.optional(),
  cost_usd: z.number().min(0).optional(),
})
export type CallUsage = z.infer<typeof CallUsage>

/**
 * Why a candidate runs: `noise` and `repeat` measure the baseline, `race` compares, `refresh` measures the incumbent on seeds it
 * has not seen, `control` looks for drift, `confirm` uses fresh seeds and the hidden split, `ablate` leaves one change out,
 * `audit` lets a run finish that would have been killed; `reevaluate` runs a candidate that was judged before on one more seed.
 */
export const RunPurpose = z.enum([
  'noise',
  'repeat',
  'race',
  'refresh',
  'control',
  'confirm',
  'ablate',
  'audit',
  'reevaluate',
])
export type RunPurpose = z.infer<typeof RunPurpose>

const CurveSampleRecord = z.object({ seconds: z.number(), value: z.number() })

/** Where a validation curve was expected to end, and how sure that was. */
const PredictedEnd = z.object({
  mean: z.number(),
  sd: z.number().min(0).describe('Standard error as a prediction.'),
  share: z.number().describe('Of the training, on which it rests.'),
})

/** How far a run was behind the incumbent while it trained, and what came of it. */
const WatchRecord = z.object({
  gaps: z.array(z.number().nullable()),
  loss: z
    .number()
    .optional()
    .describe('Against the incumbent on the same seed, in sigmas; absent: it was ended early.'),
  condemned: z.boolean().describe('It was ended early, or would have been and continued as an audit.'),
  predicted: PredictedEnd.optional(),
})

/** What came of one run. */
export const RecordedOutcome = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('scored'),
    value: z.number(),
    secondary: Metrics.default({}),
    claimed: Metrics.optional().describe('What the candidate said of itself; never counts.'),
    items: SeedScore.shape.items,
    level: Level.or(z.literal('in-process')).optional(),
    memory_by: z.string().optional().describe('Who kept the limit of memory.'),
    accelerator: z.string().optional().describe('GPU that the candidate was shown.'),
    reused_from: z
      .string()
      .optional()
      .describe('Experiment and run of an equal run of the record: nothing was trained.'),
  }),
  z.object({ status: z.literal('failed'), failure: AttemptFailure }),
  z.object({
    status: z.literal('killed'),
    reason: z.string().optional(),
    predicted: PredictedEnd.optional().describe('Stands for its score where a search asks what helped.'),
  }),
])
export type RecordedOutcome = z.infer<typeof RecordedOutcome>

/** What a person may say to a session, running or not. */
export const Steering = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('add_idea'),
    text: Text.max(4000).describe('In words: proposers read it in their brief.'),
    idea: Idea.optional().describe('Ready to run: it is tried next, with no call.'),
  }),
  z.object({ action: z.literal('ban_family'), family: Text }),
  z.object({ action: z.literal('allow_family'), family: Text }),
  z.object({ action: z.literal('pin'), attempt: Text }),
  z.object({ action: z.literal('unpin') }),
  z.object({ action: z.literal('veto'), attempt: Text.describe('It is discarded, and never a parent.') }),
  z.object({ action: z.literal('override'), attempt: Text, verdict: z.enum(['keep', 'discard']) }),
  z.object({ action: z.literal('confirm') }).describe('Asks for a test evaluation.'),
  z.object({ action: z.literal('pause') }),
  z.object({ action: z.literal('resume') }),
])
export type Steering = z.infer<typeof Steering>

/** Ideas that are not run, and why. */
export const TurnedDown = z.object({
  title: z.string(),
  family: z.string(),
  reason: z.string(),
  duplicate_of: z.string().optional().describe('Attempt that answers it from memory.'),
})
export type TurnedDown = z.infer<typeof TurnedDown>

/** Why a controller ended a session. `finished`: nothing is left to try. After any other it may be resumed. */
export const EndReason = z.enum(['experiments', 'runs', 'wall', 'tokens', 'usd', 'finished', 'failed'])
export type EndReason = z.infer<typeof EndReason>

const LookOccasion = z.enum(['milestone', 'end', 'request'])

/** One test evaluation: champion and baseline on fresh seeds. */
export const PlannedTestEvaluation = z.object({
  number: z.int().min(1),
  reason: LookOccasion,
  champion: z.string(),
  keeps: Count,
  level: z.number(),
  decide: z.array(Count).describe('Seeds that are run first: where they show nothing, the others are spared.'),
  report: z.array(Count).describe('The others: all together decide and say how large the gain is.'),
  early: z
    .boolean()
    .optional()
    .describe('The first seeds decide where they suffice; each of the two decisions has half of the level.'),
})
export type PlannedTestEvaluation = z.infer<typeof PlannedTestEvaluation>

export const ReportedGainRecord = z.object({
  gain: z.number().describe('Positive is better.'),
  n: z.int().min(1),
  interval: z.object({ lower: z.number(), upper: z.number() }).optional(),
  confidence: z.number().optional().describe('Of the interval; absent: 0.9.'),
  items: z
    .int()
    .min(1)
    .or(z.literal('fresh'))
    .optional()
    .describe('Items that the interval is over; `fresh`: each seed has new ones. Absent: over seeds alone.'),
  shrunken: z.number().optional().describe('The gain, corrected for having passed the test; absent: it did not.'),
  probability_better: z.number().optional().describe('That one more run of each shows the champion ahead.'),
})
export type ReportedGainRecord = z.infer<typeof ReportedGainRecord>

const entry = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.object({ at: z.iso.datetime(), type: z.literal(type), ...shape })

export const ResearchEntry = z.discriminatedUnion('type', [
  entry('session.begun', {
    settings: SessionSettings,
    files: z.record(z.string(), z.string()).describe('Of the baseline.'),
  }),
  entry('session.resumed', { budget: SessionSettings.shape.budget.optional() }),
  entry('session.interrupted', { reason: z.string() }),

  entry('call.intended', {
    call: z.string().describe('Of one question, however often it is sent.'),
    sending: z.int().min(1),
    worker: Count,
    purpose: z.enum(['propose', 'repair']),
    proposer: z.string(),
    parents: z.array(z.string()),
    mode: SearchMode,
    ideas: z.int().min(1),
    avoid_families: z.array(z.string()).default([]),
    attempt: z.string().optional().describe('That is repaired.'),
    forecast: z.object({ usd: z.number().min(0), tokens: Count }),
  }),
  entry('call.lost', {
    call: z.string(),
    sending: z.int().min(1),
    charged: z.object({ usd: z.number().min(0), tokens: Count }).describe('Its true cost is unknown.'),
  }),
  entry('call.answered', {
    call: z.string(),
    ideas: z.array(Idea),
    usage: CallUsage.optional().describe('Absent: no model was asked.'),
  }),
  entry('call.failed', {
    call: z.string(),
    reason: z.string(),
    usage: CallUsage.optional(),
  }),
  entry('ideas.rejected', { call: z.string().optional(), ideas: z.array(TurnedDown) }),

  entry('attempt.begun', {
    attempt: Text,
    number: Count,
    origin: z.enum(['baseline', 'proposer', 'author', 'ablation']),
    worker: Count.default(0),
    call: z.string().optional(),
    idea: Idea.optional(),
    parents: z.array(z.string()),
    title: z.string(),
    hypothesis: z.string(),
    family: z.string(),
    category: IdeaCategory,
    mode: SearchMode,
    knobs: Knobs,
    fingerprint: z.string(),
    lines: Count,
    files: FileChanges,
  }),
  entry('check.intended', { attempt: z.string() }),
  entry('attempt.checked', {
    attempt: z.string(),
    failures: z.array(AttemptFailure).describe('Empty: it may run.'),
    dry_run_memory_bytes: z.number().min(0).optional().describe('Most that the dry run held: an estimate of a run.'),
  }),
  entry('attempt.repaired', {
    attempt: z.string(),
    turn: z.int().min(1),
    call: z.string().optional(),
    idea: Idea,
    knobs: Knobs,
    fingerprint: z.string(),
    lines: Count,
    files: FileChanges,
  }),

  entry('run.intended', {
    run: z.string().describe('Name of the run in the record.'),
    attempt: z.string(),
    seed: Count,
    split: z.enum(['val', 'test']),
    purpose: RunPurpose,
  }),
  entry('run.finished', {
    run: z.string(),
    attempt: z.string(),
    seed: Count,
    split: z.enum(['val', 'test']),
    purpose: RunPurpose,
    outcome: RecordedOutcome,
    wall_s: z.number().min(0),
    peak_memory_bytes: z.number().min(0).optional().describe('Most that its processes held together.'),
    cost_usd: z.number().min(0).optional().describe('What a service charged for it.'),
    curve: z.array(CurveSampleRecord).optional().describe('Of the training metric, thinned.'),
    watch: WatchRecord.optional().describe('Present where its curve was held against that of the incumbent.'),
  }),

  entry('verdict', {
    attempt: z.string(),
    verdict: AttemptVerdict,
    reason: z.string(),
    gain: MeasuredGain.optional(),
    pairs: z.array(z.number()).optional().describe('Gain by shared seed; positive is better.'),
    typical_gain: z.number().optional().describe('Moving average of kept gains after it, in sigmas.'),
    failure: AttemptFailure.optional(),
    author: z.string().optional().describe('Present where a person decided.'),
  }),
  entry('kept', {
    attempt: z.string(),
    before: z.string().describe('Incumbent that it replaces.'),
  }),
  entry('incumbent.refreshed', {
    attempt: z.string(),
    bank: z.array(Count).min(1).describe('Seeds of the races to come.'),
  }),
  entry('control.finished', {
    attempt: z.string(),
    seed: Count,
    deviation: z.number().nullable().describe('From what was expected, in sigmas; null: it did not run.'),
    drifted: z.boolean(),
    experiments: Count.describe('Of the session by then.'),
    reason: z.string(),
  }),
  entry('look.planned', { ...PlannedTestEvaluation.shape }),
  entry('confirmation', {
    attempt: z.string(),
    against: z.string(),
    look: z.int().min(1).describe('Number of this test evaluation.'),
    occasion: LookOccasion,
    keeps: Count.describe('Of the session when it was planned.'),
    level: z.number().describe('Chance of being wrong that it spent.'),
    seeds: z.array(Count).optional().describe('On which it was decided; absent: those of all confirmation runs.'),
    p: z.number(),
    confirmed: z.boolean(),
    better: z
      .boolean()
      .optional()
      .describe(
        'The interval lies above zero. Without `confirmed`: on these items, as the scorer gives one number. Absent: as `confirmed`.',
      ),
    reported: ReportedGainRecord.optional().describe(
      'Gain with the interval that decided; absent: it was hopeless early on.',
    ),
    reason: z.string().describe('In words for people; it is about the hidden split, so no proposer reads it.'),
  }),
  entry('ablation', {
    attempt: z.string().describe('Kept change that was left out.'),
    without: z.string().describe('Attempt that is the incumbent without it.'),
    effect: z.number().optional().describe('Gain that the change brings; positive: it helps.'),
    z: z.number().optional(),
    dropped: z.boolean(),
    reason: z.string(),
  }),

  entry('steered', { author: Text, steering: Steering }),
  entry('notice', { text: z.string() }),
  entry('session.ended', {
    reason: EndReason,
    text: z.string(),
  }),
])
export type ResearchEntry = z.infer<typeof ResearchEntry>
export type ResearchEntryOf<T extends ResearchEntry['type']> = Extract<ResearchEntry, { type: T }>
