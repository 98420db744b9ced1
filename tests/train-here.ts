// Does a run in this process, with the parts that a worker, an evaluator and a controller have: real plugins, real backend, real loop,
// real book of evaluations. Scores come from a table of expected answers, as the scorer would give them.

import { builtins } from '../src/builtins/index.ts'
import type { AnyPlugin, EvalMark, Item, Prediction, RunAssignment, RunEvent, Scored } from '../src/contracts/index.ts'
import { prompted } from '../src/evaluate/index.ts'
import { AnsweringPlaces } from '../src/evaluator/open-answering.ts'
import { OpenEvaluation } from '../src/evaluator/serve-evaluations.ts'
import { createRegistry, keyedRandom, manualClock, type Registry } from '../src/kernel/index.ts'
import { EvalLedger } from '../src/lab/experiment/eval-ledger.ts'
import { wholeFailure } from '../src/lab/experiment/evaluate-run.ts'
import { readSealedTasks } from '../src/runner/train/run-context.ts'
import { createRunReporter, type Evaluate } from '../src/runner/train/run-scope.ts'
import { trainRun } from '../src/runner/train/train-run.ts'

export interface TrainedHere {
  readonly outcome: 'finished' | 'interrupted'
  readonly items: readonly Item[]
  readonly logged: readonly string[]
  /** Events of one type, in order. */
  of<T extends Item['type']>(type: T): Extract<Item, { type: T }>[]
}

export interface HereOptions {
  readonly plugins?: readonly AnyPlugin[] | undefined
  readonly stopping?: AbortSignal | undefined
  /** The score of answers; default: every answer earns nothing. */
  score?(question: {
    benchmark: string
    step?: number | undefined
    predictions: readonly Prediction[]
  }): Scored['metrics']
  /** Sees every item as it is told. */
  onItem?(item: Item): void
}

export async function trainHere(assignment: RunAssignment, options: HereOptions = {}): Promise<TrainedHere> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of options.plugins ?? []) registry.add(plugin, { rank: 'project', label: 'test' })
  const items: Item[] = []
  const logged: string[] = []
  const never = new AbortController().signal
  const log = (level: string, text: string) => void logged.push(`${level} ${text}`)
  const { benchmarks, objective } = assignment
  const ledger = new EvalLedger({ benchmarks, objective, past: pastOf(assignment) })
  await using places = new AnsweringPlaces()
  const outcome = await trainRun({
    assignment,
    stopping: options.stopping ?? never,
    reporter: createRunReporter({
      runId: assignment.run_id,
      nextItem: assignment.next_item,
      nextEvent: assignment.next_event,
      clock: manualClock(),
      async write(_number, reported: Item | EvalMark) {
        const item = ledger.recorded(reported)
        items.push(item)
        options.onItem?.(item)
      },
    }),
    services: {
      registry,
      signal: never,
      random: (...path) => keyedRandom(assignment.config.seed, ...path),
      log,
      secret: (name) => {
        throw new Error(`no secret ${name}`)
      },
    },
    evaluate: evaluateHere(assignment, { registry, places, ledger, log, score: options.score }),
  })
  return {
    outcome,
    items,
    logged,
    of: <T extends Item['type']>(type: T) =>
      items.filter((item): item is Extract<Item, { type: T }> => item.type === type),
  }
}

interface HereParts {
  readonly score: HereOptions['score'] | undefined
  readonly registry: Registry
  readonly places: AnsweringPlaces
  readonly ledger: EvalLedger
  readonly log: (level: string, text: string) => void
}

function evaluateHere(assignment: RunAssignment, { registry, places, ledger, log, score }: HereParts): Evaluate {
  const { signal } = new AbortController()
  const { config, run_id, run_dir, benchmarks } = assignment
  return async ({ evaluation, benchmark: name, step, weights, system_prompt, with_answers }) => {
    ledger.begin({ evaluation, benchmark: name, step })
    const declared = benchmarks.find((each) => each.name === name)
    if (declared?.tasks_file === undefined) throw new Error(`no questions of ${name}`)
    const benchmark = system_prompt === undefined ? declared : prompted(declared, system_prompt)
    const agent = benchmark.one_completion === true ? undefined : (benchmark.agent ?? config.agent)
    const seed = config.seed
    const asked = { run_id, run_dir, benchmark, seed, step, weights, config, agent, agent_elsewhere: false }
    const services = { registry, signal, log, need: async () => {} }
    await using opened = await OpenEvaluation.begin(
      { ...asked, secrets: {}, addresses: {}, cassette_dir: `${run_dir}/cassettes` },
      places,
      services,
      { act: () => Promise.reject(new Error('no agent runs elsewhere')), onAnswer() {} },
    )
    const tasks = await readSealedTasks(declared.tasks_file)
    const predictions = await opened.answer(tasks, signal)
    const metrics = score?.({ benchmark: name, step, predictions }) ?? { pass_rate: 0 }
    const scored = { metrics, rewards: {}, n_tasks: tasks.length, n_infra_failed: 0, scorer_hash: 'test' }
    ledger.finish(evaluation, { ...scored, weights: 'uri' in weights ? weights.uri : weights.baseModel })
    const instructions = new Map(tasks.map(({ task_id, instruction }) => [task_id, instruction]))
    const answers = predictions.map((each) => ({ ...each, instruction: instructions.get(each.task_id) }))
    return { scored, failure: wholeFailure(predictions), answers: with_answers ? answers : undefined }
  }
}

/** What the record would hold of earlier attempts, as far as the choice of a checkpoint is concerned. */
function pastOf({ past, run_id }: RunAssignment): RunEvent[] {
  const base = { seq: 1, at: '2026-01-01T00:00:00.000Z', run_id }
  const scored = { n_tasks: 1, n_infra_failed: 0, scorer_hash: 'test' }
  return [
    ...past.evals.map((each) => ({ ...base, ...scored, ...each, type: 'eval.finished' as const })),
    ...past.checkpoints.map(({ step, kind, uri: ref }) => {
      return { ...base, type: 'checkpoint.saved' as const, step, kind, ref, final: false }
    }),
  ]
}
