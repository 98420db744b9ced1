// What a valid experiment will do: its arms, its runs, in the order they start. Printed before anything starts.
import * as z from 'zod'
import { Location } from './error.ts'
import { Experiment } from './experiment-file.ts'
import { Direction, Leak } from './metadata.ts'
import { Count } from './name.ts'
import { Params } from './plugin.ts'
import { RunConfig } from './run-config.ts'

const planned = {
  name: z.string(),
  arm: z.string(),
  seed: z.int(),
  stage: Count.optional().describe('Position in a continual or staged chain.'),
  after: z.string().optional().describe('Run whose final weights this one starts from.'),
}

const hash = { config_hash: z.string() }

/** A run of an experiment file. Runs of one arm differ in seed alone and form a group. */
export const TrainingRun = z.strictObject({
  kind: z.literal('training').optional().describe('Absent: it trains.'),
  ...planned,
  config: RunConfig,
  ...hash,
})
export type TrainingRun = z.infer<typeof TrainingRun>

/** What a candidate of research is: a program for a task, or a line of a log that was imported. */
export const Candidate = z.strictObject({
  task: z.string().optional().describe('Name of the research task. Absent: it was imported from a log.'),
  title: z.string(),
  fingerprint: z.string().optional().describe('Equal for candidates that are equal but for layout and names.'),
  train_seconds: z.number().min(0).optional(),
  columns: z.record(z.string(), z.string()).optional().describe('Further columns of the log, as text.'),
})
export type Candidate = z.infer<typeof Candidate>

/** A command on a compute provider. */
export const Job = z.strictObject({
  command: z.string(),
  setup: z.string().optional(),
  envs: z.record(z.string(), z.string()),
  resources: Params,
})
export type Job = z.infer<typeof Job>

/** One run of the record, by what it does. Another kind is another member with its own payload. */
export const PlannedRun = z.preprocess(
  fromFirstVersion,
  z.discriminatedUnion('kind', [
    TrainingRun,
    z.strictObject({ kind: z.literal('candidate'), ...planned, candidate: Candidate, ...hash }),
    z.strictObject({ kind: z.literal('job'), ...planned, job: Job, ...hash }),
  ]),
)
export type PlannedRun = z.infer<typeof PlannedRun>

export const RunKind = z.enum(['training', 'candidate', 'job'])
export type RunKind = z.infer<typeof RunKind>

export const PlannedArm = z.strictObject({
  name: z.string(),
  params: z.record(z.string(), z.unknown()).describe('Axis values that make this arm.'),
  seeds: z.array(z.int()),
  max_steps: z.int().optional(),
})
export type PlannedArm = z.infer<typeof PlannedArm>

/** Something a reader should know that is no error: a translated key, a shadowed built-in, a metered test look. */
export const Notice = z.strictObject({ text: z.string(), where: Location.optional() })
export type Notice = z.infer<typeof Notice>

/** Stands for the benchmark of an objective or claim on a training metric, in a plan that declares none. */
export const trainingScores = 'training'

export const ResolvedObjective = z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction })
export type ResolvedObjective = z.infer<typeof ResolvedObjective>

/**
 * What a test evaluation of a research session decided. Its level follows from the evaluations before it, so the interval stands here:
 * the one that the session printed is the one that every page shows.
 */
const DecidedClaim = z.strictObject({
  seeds: z.array(z.int()).min(1).describe('Of the test evaluation: no other seeds count.'),
  effect: z.number(),
  interval: z.tuple([z.number(), z.number()]).nullable(),
  verdict: z.enum(['supported', 'refuted', 'inconclusive']),
  reason: z.string(),
})

/** A claim with its arms and its metric found. Arms are paired when axes that it does not name make several. */
export const ResolvedClaim = z.strictObject({
  benchmark: z.string(),
  baseline_benchmark: z.string().optional().describe('Where the baseline is scored, if that is another one.'),
  metric: z.string(),
  direction: Direction,
  pairs: z
    .array(z.strictObject({ treatment: z.string(), baseline: z.string() }))
    .min(1)
    .describe('Names of arms, or base_model.'),
  min_effect: z.number().describe('Below zero: so much may be lost.'),
  confidence: z.number(),
  decided: DecidedClaim.optional(),
})
export type ResolvedClaim = z.infer<typeof ResolvedClaim>

export const Plan = z.strictObject({
  experiment: Experiment,
  config_hash: z.string(),
  objective: ResolvedObjective.optional(),
  claim: ResolvedClaim.optional().describe('Of several, the first.'),
  claims: z.array(ResolvedClaim).min(2).optional().describe('All of them, where there are several.'),
  arms: z.array(PlannedArm).min(1),
  runs: z.array(TrainingRun).min(1),
  notices: z.array(Notice),
})
export type Plan = z.infer<typeof Plan>

/** An experiment of the record: one of research has no arm that trains. */
export const RecordedExperiment = Experiment.extend({
  runs: z.array(RunConfig).describe('The arms that train.'),
})

/** The plan of any experiment of the record: research adds candidates to it one after the other. */
export const RecordedPlan = z.preprocess(
  withoutStandIns,
  Plan.extend({
    experiment: RecordedExperiment,
    runs: z.array(PlannedRun).min(1),
  }),
)
export type RecordedPlan = z.infer<typeof RecordedPlan>

/** `evsys validate --json`. */
export const ValidateReport = z.strictObject({
  valid: z.literal(true),
  file: z.string(),
  deep: z.boolean(),
  leaks: z
    .array(Leak)
    .optional()
    .describe('Training rows that repeat questions, which the experiment allows or drops.'),
  name: z.string(),
  config_hash: z.string(),
  objective: ResolvedObjective.optional(),
  n_runs: z.int(),
  arms: z.array(PlannedArm),
  notices: z.array(Notice),
})
export type ValidateReport = z.infer<typeof ValidateReport>

// The first version of the record knew trainings alone: candidates were written as configurations of these kinds.
const StandIn = z.looseObject({
  model: z.looseObject({ name: z.string() }),
  algorithm: z.looseObject({ kind: z.enum(['research', 'imported']), params: z.record(z.string(), z.unknown()) }),
  backend: z.looseObject({ kind: z.enum(['research', 'imported']) }),
})

const StoodFor = z.looseObject({ config: StandIn })

function fromFirstVersion(run: unknown): unknown {
  const found = StoodFor.safeParse(run).data
  if (found === undefined) return run
  const { config, ...rest } = found
  return { kind: 'candidate', ...rest, candidate: candidateOf(config) }
}

function candidateOf({ model, algorithm }: z.infer<typeof StandIn>): unknown {
  const { params } = algorithm
  if (algorithm.kind === 'research') return { task: model.name, ...params }
  const { name, ...columns } = params
  return { title: name, columns }
}

const WithRuns = z.looseObject({ experiment: z.looseObject({ runs: z.array(z.unknown()) }) })

function withoutStandIns(plan: unknown): unknown {
  const found = WithRuns.safeParse(plan).data
  if (found === undefined) return plan
  const runs = found.experiment.runs.filter((config) => !StandIn.safeParse(config).success)
  return { ...found, experiment: { ...found.experiment, runs } }
}
