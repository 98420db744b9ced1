// Everything that the parts of one run share.
import type {
  AgentOrder,
  AgentRecord,
  CallbackScope,
  Item,
  OpenEnvironment,
  OpenRenderer,
  OtherModels,
  PolicyAnswer,
  PolicyQuestion,
  Prediction,
  RunAssignment,
  RunEvent,
  Scored,
  StepScope,
  Weights,
} from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { CheckpointBook } from './checkpoint-book.ts'
import type { LoopCallbacks } from './loop-callbacks.ts'
import type { OpenModel } from './open-model.ts'
import type { RunServices } from './run-context.ts'

/** Asks the scorer, who alone knows the expected answers. */
export type AskScore = (question: {
  benchmark: string
  step?: number | undefined
  predictions: readonly Prediction[]
}) => Promise<Scored>

/** Has the task folders of a benchmark attempted where their tests are. */
export type AskTrials = (question: {
  benchmark: string
  step?: number | undefined
  system_prompt?: string | undefined
  /** Answers for the policy. */
  answer(question: PolicyQuestion): Promise<PolicyAnswer>
  /** Runs an agent of the project over the policy, in an environment that is elsewhere. */
  runAgent(order: AgentOrder, environment: OpenEnvironment, signal: AbortSignal): Promise<AgentRecord>
}) => Promise<{ scored: Scored; predictions: readonly Prediction[] }>

type PastEval = RunAssignment['past']['evals'][number]

export interface RunScope {
  readonly assignment: RunAssignment
  readonly services: RunServices
  readonly reporter: RunReporter
  readonly askScore: AskScore
  /** Absent: no one runs trials. */
  readonly askTrials?: AskTrials | undefined
  /** Aborted when the run should save and leave. */
  readonly stopping: AbortSignal
  readonly callbacks: LoopCallbacks
  readonly book: CheckpointBook
  /** Evaluations during training, those of earlier attempts included; steps that are done again are taken out. */
  evals: readonly PastEval[]
  readonly renderer: OpenRenderer
  /** The weights that the run started from. */
  readonly reference: Weights
  readonly others: OtherModels
  /** Replaced when the run goes back to a checkpoint. */
  model: OpenModel
  /** Takes the place of the benchmarks’ system prompts; empty: none. What a search for prompts found. */
  systemPrompt?: string | undefined
}

export function callbackScope(assignment: RunAssignment): CallbackScope {
  const {
    experiment_id: experimentId,
    experiment,
    hypothesis,
    run_dir: dir,
    run_id,
    run_name,
    arm,
    config,
  } = assignment
  const run = { runId: run_id, name: run_name, arm, seed: config.seed, dir, config }
  return { experimentId, experiment, outputDir: dir, run, hypothesis }
}

export function stepScope(
  assignment: RunAssignment,
  step: number,
  numSteps: number,
  requestStop: (reason: string) => void,
): StepScope {
  return { ...callbackScope(assignment), step, numSteps, requestStop }
}

// Numbers what a run reports. Events count from the assignment's cursors on, so that every attempt continues the stream.
type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

export interface RunReporter {
  report(event: Body<RunEvent>): Promise<void>
}

/** `write` stores an item under its number and resolves when it may be forgotten here. */
export function createRunReporter(options: {
  runId: string
  nextItem: number
  nextEvent: number
  clock: Clock
  write(number: number, item: Item): Promise<void>
}): RunReporter {
  let item = options.nextItem
  let event = options.nextEvent
  return {
    report(body) {
      const at = new Date(options.clock.now()).toISOString()
      const whole = { ...body, seq: event, at, run_id: options.runId } as RunEvent // the three fields that Body leaves out
      event += 1
      item += 1
      return options.write(item - 1, whole)
    },
  }
}
