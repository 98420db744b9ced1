// The evaluations of one attempt at a run, as they were measured here. A run says where they stand among its events and no more: what
// they found, which checkpoint is the best and what the run ends with are put in from this book.
import type {
  Direction,
  EvalMark,
  Item,
  Level,
  Metrics,
  RunEvent,
  Scored,
  SealedBenchmark,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { SegmentItem } from '../workers/segment-reader.ts'

/** What an evaluation found, as an event without its place. */
export type FoundEval = Scored & { readonly weights: string } & Pick<
    Extract<RunEvent, { type: 'eval.finished' }>,
    'project_code' | 'n_deaths' | 'system_prompt'
  >

interface LedgerOptions {
  readonly benchmarks: readonly Pick<SealedBenchmark, 'name' | 'split' | 'run_every'>[]
  readonly objective?:
    | { readonly benchmark: string; readonly metric: string; readonly direction: Direction }
    | undefined
  /** Events of earlier attempts, in order. */
  readonly past?: readonly RunEvent[] | undefined
  /** How recipe code is shut in: what a run says of it does not count. */
  readonly sandbox?: Level | undefined
}

interface Entry {
  readonly benchmark: string
  readonly step: number | undefined
  found?: FoundEval
  isRecorded: boolean
}

/** A step that training went back to may be evaluated again, so often at most. */
const MOST_AT_A_STEP = 4

export class EvalLedger {
  readonly #options: LedgerOptions
  readonly #entries = new Map<number, Entry>()
  readonly #best: BestStep
  /** Of evaluations after training, in this attempt. */
  readonly #finals = new Map<string, Metrics>()

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#best = new BestStep(options.objective)
    for (const event of options.past ?? []) this.#best.take(event)
  }

  /** The checkpoint that is the best on validation so far, by the scores that were measured here. */
  get bestStep(): number | undefined {
    return this.#best.step
  }

  /** Whether there are scores to choose a checkpoint by, perhaps not yet in the record. */
  get hasChoice(): boolean {
    return this.bestStep !== undefined || [...this.#entries.values()].some(({ step }) => step !== undefined)
  }

  /** Enters an evaluation that is asked for; throws where the run may not ask. */
  begin({ evaluation, benchmark, step }: Pick<EvalMark, 'evaluation' | 'benchmark' | 'step'>): void {
    const { run_every, split } = this.#declared(benchmark)
    if (this.#entries.has(evaluation)) throw refused(`evaluation ${evaluation} was asked for before`)
    const earlier = [...this.#entries.values()].filter((each) => each.benchmark === benchmark && each.step === step)
    if (earlier.length >= (step === undefined ? 1 : MOST_AT_A_STEP)) {
      throw refused(`${benchmark} was evaluated ${step === undefined ? 'after training' : `at step ${step}`} before`)
    }
    if (step !== undefined && split === 'test' && (run_every === 0 || (step + 1) % run_every !== 0)) {
      throw refused(`the test benchmark ${benchmark} is not evaluated at step ${step}`)
    }
    this.#entries.set(evaluation, { benchmark, step, isRecorded: false })
  }

  finish(evaluation: number, found: FoundEval): void {
    const entry = this.#entries.get(evaluation)
    if (entry !== undefined) entry.found = found
  }

  /** What stands in the record for an item of the segment. */
  readonly recorded = (item: SegmentItem): Item => {
    const whole = this.#recorded(item)
    if ('run_id' in whole && !('points' in whole)) this.#best.take(whole as RunEvent) // the union of both holds no other item of a run
    return whole
  }

  #recorded(item: SegmentItem): Item {
    if (item.type === 'evaluation') return this.#evaluated(item)
    if (item.type === 'run.started') return { ...item, sandbox: this.#options.sandbox }
    if (item.type !== 'run.finished') return item
    const left = [...this.#entries.values()].find(({ found, isRecorded }) => found !== undefined && !isRecorded)
    if (item.status === 'completed' && left !== undefined) {
      throw refused(`it ends without its evaluation on ${left.benchmark}, whose score is known`)
    }
    if (item.status !== 'completed') return { ...item, metrics: this.#withScores(item.metrics, false) }
    return { ...item, metrics: this.#withScores(item.metrics, true), best_step: this.#best.step }
  }

  #evaluated({ phase, evaluation, type: _, ...mark }: EvalMark): RunEvent {
    const { benchmark, step } = mark
    const { split } = this.#declared(benchmark)
    if (phase === 'started') return { ...mark, type: 'eval.started', split }
    const entry = this.#entries.get(evaluation)
    if (entry?.found === undefined || entry.isRecorded || entry.benchmark !== benchmark || entry.step !== step) {
      throw refused(`it reports an evaluation on ${benchmark} that was not made`)
    }
    entry.isRecorded = true
    const { found } = entry
    if (step === undefined && found.error === undefined) this.#finals.set(benchmark, found.metrics)
    return { ...mark, type: 'eval.finished', split, ...found }
  }

  // Scores stand among the metrics of a run under the names of their benchmarks: those that it says itself are left out.
  #withScores(metrics: Metrics, isWhole: boolean): Metrics {
    const { benchmarks } = this.#options
    const places = benchmarks.map(({ name, split }) => `${split}/${name}/`)
    const whole: Metrics = {}
    for (const [name, value] of Object.entries(metrics)) {
      if (!places.some((place) => name.startsWith(place))) whole[name] = value
    }
    for (const { name, split } of isWhole ? benchmarks : []) {
      for (const [metric, value] of Object.entries(this.#finals.get(name) ?? {})) {
        if (Number.isFinite(value)) whole[`${split}/${name}/${metric}`] = value
      }
    }
    return whole
  }

  #declared(benchmark: string) {
    const found = this.#options.benchmarks.find(({ name }) => name === benchmark)
    if (found === undefined)
      throw refused(`it names the benchmark ${JSON.stringify(benchmark)}, which it does not have`)
    return found
  }
}

export function refused(what: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the run may not decide what it scored: ${what}`, {
    fix: 'look for a plugin that writes into the folder of its run, or that takes part in the conversation of its process.',
  })
}

// The best step on validation as a fold over the events of a run. What a run says of it does not count.
class BestStep {
  readonly #objective: LedgerOptions['objective']
  /** Scores as the record holds them, by step. */
  readonly #known = new Map<number, number>()
  /** Those that can be chosen from. */
  #judged = new Map<number, number>()
  readonly #samplers = new Set<number>()

  constructor(objective: LedgerOptions['objective']) {
    this.#objective = objective
  }

  /** A tie stays with the earlier step. */
  get step(): number | undefined {
    const sign = this.#objective?.direction === 'min' ? -1 : 1
    return [...this.#judged].sort(([a, x], [b, y]) => sign * (y - x) || a - b)[0]?.[0]
  }

  take(event: RunEvent): void {
    switch (event.type) {
      case 'run.started': {
        const resumed = event.resumed_from_step ?? -1
        this.#judged = new Map([...this.#known].filter(([step]) => step <= resumed))
        this.#dropAfter(resumed)
        return
      }
      case 'eval.finished':
        this.#judge(event)
        return
      case 'checkpoint.saved':
        if (event.kind === 'sampler') this.#samplers.add(event.step)
        return
      case 'checkpoint.dropped':
        if (event.kind === 'sampler') this.#samplers.delete(event.step)
        return
      case 'guard.tripped':
        if (event.rolled_back_to !== undefined || (event.action ?? 'roll_back') === 'roll_back') {
          const kept = event.rolled_back_to ?? -1
          this.#dropAfter(kept)
          // A best one from before that was deleted is no longer there to be chosen.
          for (const step of this.#judged.keys()) {
            if (step > kept || !this.#samplers.has(step)) this.#judged.delete(step)
          }
        }
        return
      default:
        return
    }
  }

  #judge({ benchmark, split, step, metrics, error }: Extract<RunEvent, { type: 'eval.finished' }>): void {
    if (this.#objective === undefined || step === undefined || error !== undefined) return
    if (split !== 'val' || benchmark !== this.#objective.benchmark) return
    const value = metrics[this.#objective.metric]
    if (value === undefined || !Number.isFinite(value)) return
    this.#known.set(step, value)
    this.#judged.set(step, value)
  }

  #dropAfter(step: number): void {
    for (const saved of this.#samplers) if (saved > step) this.#samplers.delete(saved)
  }
}
