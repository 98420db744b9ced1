// Everything that the parts of one run share.
import type {
  AgentOrder,
  AgentRecord,
  CallbackScope,
  EvalMark,
  Evaluated,
  Item,
  OpenRenderer,
  OtherModels,
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
import type { AgentPlace } from './run-agent-order.ts'
import type { RunServices } from './run-context.ts'

/** Has weights of the run evaluated, by a process that no recipe runs in. */
export type Evaluate = (question: {
  /** Unique in this attempt. */
  evaluation: number
  benchmark: string
  step?: number | undefined
  weights: Weights
  /** In place of that of the benchmark; empty: none. */
  system_prompt?: string | undefined
  /** Whether what was answered is wanted as well. */
  with_answers: boolean
  /** Runs an agent of the project, over a model and an environment that are elsewhere. */
  runAgent(order: AgentOrder, place: AgentPlace, signal: AbortSignal): Promise<AgentRecord>
}) => Promise<Evaluated>

type PastEval = RunAssignment['past']['evals'][number]

export interface RunScope {
  readonly assignment: RunAssignment
  readonly services: RunServices
  readonly reporter: RunReporter
  readonly evaluate: Evaluate
  /** The number of the next evaluation. */
  nextEvaluation(): number
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

/** What a run may report by itself: what evaluations found is not its to say. */
type ReportedEvent = Exclude<RunEvent, { type: 'eval.started' | 'eval.finished' }>

export interface RunReporter {
  report(event: Body<ReportedEvent>): Promise<void>
  /** Says where an evaluation begins or ends; `scored`, for those who count here, is what was found and is not written. */
  mark(mark: Omit<Body<EvalMark>, 'type'>, scored?: Scored): Promise<void>
}

/** `write` stores an item under its number and resolves when it may be forgotten here. */
export function createRunReporter(options: {
  runId: string
  nextItem: number
  nextEvent: number
  clock: Clock
  write(number: number, item: Item | EvalMark): Promise<void>
}): RunReporter {
  let item = options.nextItem
  let event = options.nextEvent
  const write = (body: Body<ReportedEvent> | Body<EvalMark>) => {
    const at = new Date(options.clock.now()).toISOString()
    const whole = { ...body, seq: event, at, run_id: options.runId } as RunEvent | EvalMark // the three fields that Body leaves out
    event += 1
    item += 1
    return options.write(item - 1, whole)
  }
  return {
    report: write,
    mark: (mark) => write({ type: 'evaluation', ...mark }),
  }
}
