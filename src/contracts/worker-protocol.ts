// What crosses between the controller and a run worker. Events and points do not: the worker writes them to its segment file.
import * as z from 'zod'
import {
  AgentOrder,
  AgentRecord,
  EnvironmentCall,
  EnvironmentReply,
  PolicyQuestion,
  PolicyReply,
} from './agent-exchange.ts'
import { ErrorCode, ErrorRecord } from './error.ts'
import { AnswerFailure, GuardTrip, JudgeReport, StepFailures } from './events.ts'
import { Level } from './execution.ts'
import { ChatTemplate, Direction, Split } from './metadata.ts'
import { Count } from './name.ts'
import { AddressVariable, LogLevel, PluginSpec } from './plugin.ts'
import { Bounds, MetricRanges, Metrics, MetricTables, TaskScores, ThinClasses } from './quantity.ts'
import { ExperimentResult } from './results.ts'
import { RunConfig } from './run-config.ts'
import { CheckpointKind } from './training-service.ts'

/** A task as a worker may know it: what is asked. */
export const SealedTask = z.strictObject({
  task_id: z.string(),
  instruction: z.string(),
  user_turns: z.array(z.string()).optional().describe('What the user says after the first answer, the second, ...'),
})
export type SealedTask = z.infer<typeof SealedTask>

/** A benchmark as a worker and the evaluator may know it: how it is asked, never what is expected. */
export const SealedBenchmark = z.strictObject({
  name: z.string(),
  split: Split,
  run_every: Count,
  num_samples: z.int().min(1),
  max_tokens: z.int().min(1),
  temperature: z.number().min(0),
  n_concurrent: z.int().min(1),
  chat_template: ChatTemplate,
  agent: PluginSpec.optional().describe('Harness that produces the answers; absent: that of the run.'),
  one_completion: z.literal(true).optional().describe('No agent answers, that of the run neither.'),
  inference: PluginSpec.optional().describe('Client that answers in place of the weights.'),
  tasks_file: z
    .string()
    .optional()
    .describe(
      'JSON lines of tasks as SealedTask has them, where rows that repeat them are left out; absent otherwise.',
    ),
  drop_leaks: z.literal(true).optional().describe('Training rows that repeat its questions are left out.'),
  in_folders: z
    .literal(true)
    .optional()
    .describe('Its tasks are folders: the controller attempts them, and the evaluator answers for the policy.'),
})
export type SealedBenchmark = z.infer<typeof SealedBenchmark>

/** Where a run resumes: the newest complete checkpoint, with the optimiser’s state. */
export const ResumePoint = z.strictObject({
  step: Count,
  uri: z.string(),
  engine_id: z.string(),
  final: z.boolean().default(false).describe('Training was over: what is left is scoring.'),
})
export type ResumePoint = z.infer<typeof ResumePoint>

export const RunAssignment = z.strictObject({
  experiment_id: z.string(),
  experiment: z.string(),
  hypothesis: z.string().optional(),
  run_id: z.string(),
  run_name: z.string(),
  arm: z.string(),
  attempt: z.int().min(1),
  config: RunConfig,
  config_hash: z.string(),
  run_dir: z.string(),
  segment_file: z.string(),
  next_item: z.int().min(1),
  next_event: z.int().min(1),
  resume: ResumePoint.optional(),
  start_weights: z.string().optional().describe('State of the run that this one follows.'),
  arm_weights: z
    .record(z.string(), z.string())
    .default({})
    .describe('Final weights to sample from of the arms that the run refers to, by name of the arm.'),
  guard_trips: Count.default(0).describe('Roll-backs so far; each halves the learning rate.'),
  past: z
    .strictObject({
      evals: z.array(z.strictObject({ benchmark: z.string(), split: Split, step: Count, metrics: Metrics })),
      checkpoints: z.array(z.strictObject({ step: Count, kind: CheckpointKind, uri: z.string() })),
      metrics: Metrics.describe('Of the last step that is kept.'),
      losses: z
        .array(z.strictObject({ step: Count, loss: z.number() }))
        .default([])
        .describe('Of the last steps that are kept: what the guard compares with.'),
      saved: z
        .array(z.strictObject({ step: Count, metrics: Metrics }))
        .default([])
        .describe('Metrics of the steps that can be gone back to.'),
      failures: z.array(StepFailures).default([]).describe('What was counted up to the resume point.'),
      guards: z
        .strictObject({
          rows: z.array(z.strictObject({ step: Count, values: Metrics })),
          trips: z.array(GuardTrip).describe('Those that stand.'),
        })
        .default({ rows: [], trips: [] })
        .describe('What the guards of rollouts knew.'),
    })
    .default({
      evals: [],
      checkpoints: [],
      metrics: {},
      losses: [],
      saved: [],
      failures: [],
      guards: { rows: [], trips: [] },
    })
    .describe('What earlier attempts left up to the resume point.'),
  benchmarks: z.array(SealedBenchmark),
  objective: z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction }).optional(),
  callbacks: z.array(PluginSpec).describe('Opened in the worker, for this run alone.'),
  log_store: PluginSpec.optional().describe('Opened in the worker, for this run alone.'),
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  log_rollouts: z.boolean(),
  is_dry: z
    .boolean()
    .default(false)
    .describe('It shows that the plan runs: steps that train on nothing are no failure.'),
  checkpoints_kept: z.int().min(1),
})
export type RunAssignment = z.infer<typeof RunAssignment>

/** One answer to one task; `error` where infrastructure failed. */
export const Prediction = z.strictObject({
  task_id: z.string(),
  sample: Count,
  output: z.string().optional(),
  complete: z.boolean().optional(),
  prompt_tokens: Count.optional(),
  completion_tokens: Count.optional(),
  logprobs: z
    .array(z.number().nullable())
    .optional()
    .describe('Of the tokens of the answer, in order, to six decimals; null: no finite number. Absent: not reported.'),
  latency_s: z.number().min(0).optional(),
  cost_usd: z.number().min(0).optional(),
  error: ErrorRecord.optional(),
  agent_error: ErrorRecord.optional().describe(
    'The agent failed by itself: what it left is scored, and it is counted.',
  ),
})
export type Prediction = z.infer<typeof Prediction>

/** One answer with what was asked, what was expected and what it earned. Recipe code never sees it. */
export const ScoredAnswer = Prediction.extend({
  instruction: z.string(),
  expected: z.unknown().describe('Absent where a task has no answer to compare with.'),
  reward: z.number().nullable().describe('Null: infrastructure failed.'),
  metadata: z.unknown().describe('Of the task.'),
})
export type ScoredAnswer = z.infer<typeof ScoredAnswer>

/** What the scorer found. */
export const Scored = z.strictObject({
  metrics: Metrics.describe(
    'Over all tasks. A missing reward counts as the worst value, so that no failure lifts a score.',
  ),
  bounds: Bounds.optional().describe('Of the metrics that missing rewards leave open.'),
  intervals: Bounds.optional().describe('Of the metrics, over tasks; coverage 0.9.'),
  rewards: z.record(z.string(), z.array(z.number().nullable())),
  by_task: TaskScores.optional().describe('What each task adds to metrics that rewards alone do not give.'),
  ranges: MetricRanges.optional().describe('What metrics can be, where their plugins say so.'),
  thin: ThinClasses.optional().describe('Metrics whose intervals are not calibrated, and the class that is too rare.'),
  tables: MetricTables.optional().describe('Of the metrics that give one.'),
  n_tasks: Count,
  n_infra_failed: Count.describe('Answers without a reward.'),
  n_agent_failed: Count.optional().describe('Attempts in which the agent failed; each counts as a wrong answer.'),
  failures: z.array(AnswerFailure).optional().describe('Why attempts failed, the most frequent first.'),
  judge: JudgeReport.optional().describe('Present where a model judged.'),
  scorer_hash: z.string(),
  predictions: z.string().optional(),
  error: ErrorRecord.optional(),
})
export type Scored = z.infer<typeof Scored>

/** An answer that was scored, as callbacks of a run may know it. */
export const EvaluatedAnswer = Prediction.extend({ instruction: z.string().optional() })
export type EvaluatedAnswer = z.infer<typeof EvaluatedAnswer>

/** What a run hears of an evaluation that it asked for. The record of it is written elsewhere. */
export const Evaluated = z.strictObject({
  scored: Scored,
  failure: ErrorRecord.optional().describe('The first error, where every attempt failed.'),
  answers: z.array(EvaluatedAnswer).optional().describe('Present where the run has callbacks for them.'),
})
export type Evaluated = z.infer<typeof Evaluated>

/**
 * Where an evaluation begins or ends among the events of a run. A run says where, and no more: the controller puts `eval.started` or
 * `eval.finished` in its place, with what the evaluator and the scorer found.
 */
export const EvalMark = z.strictObject({
  seq: z.int().min(1),
  at: z.iso.datetime(),
  run_id: z.string(),
  type: z.literal('evaluation'),
  phase: z.enum(['started', 'finished']),
  evaluation: z.int().min(1).describe('Number that the worker gave.'),
  benchmark: z.string(),
  step: Count.optional().describe('Absent: after training.'),
})
export type EvalMark = z.infer<typeof EvalMark>

/** Weights as they cross between processes. */
export const NamedWeights = z.union([
  z.strictObject({ kind: z.literal('sampler'), uri: z.string().min(1) }),
  z.strictObject({ baseModel: z.string().min(1) }),
])

/** A plugin file as it was when a worker loaded it. */
export const FileStamp = z.strictObject({ file: z.string(), stamp: z.string() })
export type FileStamp = z.infer<typeof FileStamp>

/** What a worker loads, once. */
export const WorkerStart = z.strictObject({
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  heap_mb: z.number().describe('A worker that holds much of it is not used again.'),
  blocked_ms: z.number().describe('Longest that its event loop may stand still.'),
  model: z.string().optional().describe('Its text is opened while the worker waits for the first run.'),
})
export type WorkerStart = z.infer<typeof WorkerStart>

/**
 * What the controller and a run worker ask of each other. `evaluation` is a number that the worker gave, `agent` one of the
 * controller. A worker names weights and a benchmark; it neither sees nor says what they scored before that is in the record.
 */
export const workerProtocol = {
  child: {
    load: {
      params: WorkerStart,
      result: z.strictObject({
        files: z.array(FileStamp).describe('What was loaded: a worker serves while these files stay as they are.'),
      }),
    },
    run: {
      params: z.strictObject({
        assignment: RunAssignment,
        secrets: z.record(z.string(), z.string()).describe('Those that the plugins of the run declare, and no other.'),
        addresses: z.partialRecord(AddressVariable, z.string()).default({}),
        has_trainer: z.boolean().default(false).describe('A trainer is there for it: `trainer` opens it.'),
      }),
      result: z.strictObject({
        outcome: z.enum(['finished', 'interrupted']),
        reusable: z.boolean().describe('False: it holds state that another run must not see.'),
      }),
    },
    /** The run saves and leaves; with the reason. */
    stop: { params: z.string() },
    /** The trainer that was given to the run is gone, and why. */
    trainer_gone: { params: ErrorRecord },
    /** Runs an agent of the project in an evaluation; its environment, if it has one, is the controller's, and so is its model. */
    act: { params: z.strictObject({ evaluation: z.int(), agent: z.int(), order: AgentOrder }), result: AgentRecord },
  },
  parent: {
    /** The assignment has arrived; plugins run from here on. */
    taken: { params: z.null() },
    /** The segment holds every item before this one. */
    written: { params: z.int().min(1) },
    /** The end of the process is near, and this is why. */
    failing: { params: ErrorRecord.extend({ code: ErrorCode.extract(['WORKER_DIED', 'FILE_FAILED']) }) },
    /** Has weights of the run evaluated on a benchmark. */
    evaluate: {
      params: z.strictObject({
        evaluation: z.int().min(1),
        benchmark: z.string(),
        step: Count.optional().describe('Absent: after training.'),
        weights: NamedWeights,
        system_prompt: z.string().optional().describe('In place of that of the benchmark; empty: none.'),
        with_answers: z.boolean(),
      }),
      result: Evaluated,
      most: 4,
    },
    /** Starts the trainer of the run, unless it is there. */
    trainer: {
      params: z.null(),
      result: z.strictObject({ socket: z.string(), key: z.string() }),
    },
    /** What an agent that runs in the worker asks the weights that are evaluated. */
    policy: {
      params: z.strictObject({ agent: z.int(), asked: PolicyQuestion }),
      result: PolicyReply,
      most: 1000,
    },
    /** Opens a sandbox for code that a model wrote: the controller holds it, under a number of this run. */
    open_sandbox: { params: z.null(), result: z.strictObject({ sandbox: z.int(), level: Level }), most: 1000 },
    sandbox: {
      params: z.strictObject({ sandbox: z.int(), asked: EnvironmentCall }),
      result: EnvironmentReply,
      most: 1000,
    },
    close_sandbox: { params: z.int(), result: z.null(), most: 1000 },
    /** A call of an agent to the environment of its task. */
    environment: {
      params: z.strictObject({ agent: z.int(), asked: EnvironmentCall }),
      result: EnvironmentReply,
      most: 1000,
    },
  },
} as const

// What crosses between a command and the process that works out by which code and data a run would be made today.
export const Recipe = z.strictObject({
  key: z.string(),
  config: RunConfig,
  /** Loggers and other callbacks of the experiment. */
  callbacks: z.array(PluginSpec),
  log_store: PluginSpec.optional(),
  benchmarks: z
    .array(SealedBenchmark)
    .optional()
    .describe('Those whose questions are left out of the rows among them.'),
  engine_dir: z
    .string()
    .optional()
    .describe('Opens the backend here, for the id of its engine; absent: not asked for.'),
})
export type Recipe = z.infer<typeof Recipe>

export const RecipeStart = z.strictObject({
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  recipes: z.array(Recipe),
  cache_dir: z.string().optional().describe('Where rows are kept; absent: the cache of the project.'),
})
export type RecipeStart = z.infer<typeof RecipeStart>

export const RecipeHashes = z.strictObject({
  key: z.string(),
  code_hash: z.string().optional(),
  data_hash: z.string().optional(),
  data_key: z.string().optional().describe('Of the rows in the cache.'),
  engine_id: z.string().optional().describe('Present where it was asked for and the backend could be opened.'),
  /** Why a hash is missing. */
  error: ErrorRecord.optional(),
})
export type RecipeHashes = z.infer<typeof RecipeHashes>

export const recipeProtocol = {
  parent: { hashes: { params: RecipeHashes } },
  child: { hash: { params: RecipeStart, result: z.null() } },
} as const

// What crosses between the controller and the process in which callbacks hear of an experiment as a whole.
export const WatchStart = z.strictObject({
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  callbacks: z.array(PluginSpec),
})
export type WatchStart = z.infer<typeof WatchStart>

const scope = z.strictObject({
  experimentId: z.string(),
  experiment: z.string(),
  outputDir: z.string(),
  hypothesis: z.string().optional(),
})

export const ToWatch = z.discriminatedUnion('hook', [
  z.strictObject({ hook: z.literal('onExperimentStart'), scope }),
  z.strictObject({ hook: z.literal('onGroupStart'), scope, arm: z.string() }),
  z.strictObject({ hook: z.literal('onExperimentEnd'), scope, result: ExperimentResult }),
])
export type ToWatch = z.infer<typeof ToWatch>

export const watchProtocol = {
  parent: { log: { params: z.strictObject({ level: LogLevel, text: z.string() }) } },
  child: {
    open: { params: WatchStart, result: z.null() },
    /** Settles when all callbacks have heard it. */
    hook: { params: ToWatch, result: z.null() },
  },
} as const
