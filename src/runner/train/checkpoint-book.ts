// The checkpoints of a run: which exist, which is the newest, which is best on validation, which may go.
import type { CheckpointKind, Direction, Metrics, Ref, SamplerRef } from '../../contracts/index.ts'

export interface Checkpoint {
  readonly step: number
  readonly kind: CheckpointKind
  readonly uri: string
}

export class CheckpointBook {
  readonly #saved = new Map<string, Checkpoint>()
  /** Validation scores, by step. */
  readonly #judged = new Map<number, number>()
  /** What was saved because the run was interrupted, by key. */
  readonly #passing = new Set<string>()
  readonly #objective: { metric: string; direction: Direction } | undefined

  constructor(past: readonly Checkpoint[], objective: { metric: string; direction: Direction } | undefined) {
    this.#objective = objective
    for (const checkpoint of past) this.add(checkpoint)
  }

  add(checkpoint: Checkpoint): void {
    this.#saved.set(keyOf(checkpoint), checkpoint)
  }

  has(step: number, kind: CheckpointKind): boolean {
    return this.#saved.has(`${step}/${kind}`)
  }

  uri(step: number, kind: CheckpointKind): string | undefined {
    return this.#saved.get(`${step}/${kind}`)?.uri
  }

  /** True when these validation metrics are better than all before; a tie stays with the earlier step. */
  judge(step: number, metrics: Metrics): boolean {
    const value = this.#objective === undefined ? undefined : metrics[this.#objective.metric]
    if (value === undefined || !Number.isFinite(value)) return false
    this.#judged.set(step, value)
    return this.bestStep === step
  }

  get bestStep(): number | undefined {
    return this.#bestAmong([...this.#judged])
  }

  #bestAmong(judged: [step: number, value: number][]): number | undefined {
    const sign = this.#objective?.direction === 'min' ? -1 : 1
    return judged.sort(([a, x], [b, y]) => sign * (y - x) || a - b)[0]?.[0]
  }

  /**
   * Separates what an interruption left from what the run would have saved anyway: `planned` steps, and weights to sample from that
   * were the best when they were saved. It served to resume from; had the run not been interrupted, it would not be there.
   */
  markPassing(planned: ReadonlySet<number>): void {
    for (const [key, { step, kind }] of this.#saved) {
      const wasBest = this.#bestAmong([...this.#judged].filter(([judged]) => judged <= step)) === step
      if (!planned.has(step) && !(kind === 'sampler' && wasBest)) this.#passing.add(key)
    }
  }

  /** What an interruption left. */
  get passing(): (Checkpoint & Ref)[] {
    return [...this.#saved.values()].filter((each) => this.#passing.has(keyOf(each)))
  }

  get #lasting(): Checkpoint[] {
    return [...this.#saved.values()].filter((each) => !this.#passing.has(keyOf(each)))
  }

  /** Weights to sample from at a step. */
  sampler(step: number): SamplerRef | undefined {
    const saved = this.#saved.get(`${step}/sampler`)
    return saved === undefined ? undefined : { kind: 'sampler', uri: saved.uri }
  }

  at(step: number): Ref[] {
    return [...this.#saved.values()].filter((each) => each.step === step).map(({ kind, uri }): Ref => ({ kind, uri }))
  }

  /** The newest state at or before a step, of those that the run would have without an interruption. */
  stateBefore(step: number): Checkpoint | undefined {
    const states = this.#lasting.filter((each) => each.kind === 'state' && each.step <= step)
    return states.sort((a, b) => b.step - a.step)[0]
  }

  /** The oldest state that is still there, of those that the run would have without an interruption. */
  get oldestState(): Checkpoint | undefined {
    return this.#lasting.filter(({ kind }) => kind === 'state').sort((a, b) => a.step - b.step)[0]
  }

  /** Forgets what was saved after a step: those steps are done again. */
  rollBackTo(step: number): void {
    for (const [key, saved] of this.#saved) if (saved.step > step) this.#saved.delete(key)
    // A best one from before that was deleted is no longer there to be chosen.
    for (const judged of this.#judged.keys()) {
      if (judged > step || !this.has(judged, 'sampler')) this.#judged.delete(judged)
    }
  }

  /** Checkpoints to delete when the newest `kept` states and the best weights stay. */
  surplus(kept: number): (Checkpoint & Ref)[] {
    const states = this.#lasting.filter(({ kind }) => kind === 'state')
    const steps = states.map(({ step }) => step).sort((a, b) => b - a)
    const best = this.bestStep
    const stay = new Set([...steps.slice(0, kept), ...(best === undefined ? [] : [best])])
    return this.#lasting.filter((each) => !stay.has(each.step))
  }

  drop(checkpoint: Checkpoint): void {
    this.#saved.delete(keyOf(checkpoint))
  }
}

function keyOf({ step, kind }: Checkpoint): string {
  return `${step}/${kind}`
}
