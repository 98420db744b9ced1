// What went wrong in a run without ending it: a fold over its events, so that a resumed run knows what it would have known. A step
// that is done again counts once.
import type { FailureCount, FailureKind, StepFailures } from './events.ts'
import type { Metrics } from './quantity.ts'
import type { Item } from './record.ts'

type Counts = Map<FailureKind, FailureCount>

type Reported = Item | (Item extends infer E ? (E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never) : never)

export class FailureTally {
  /** By step. Roll-backs and resumes lead to checkpoints, so that all steps up to one of those are counted together. */
  readonly #steps = new Map<number, Counts>()
  readonly #saved = new Set<number>()
  #final: Counts = new Map()

  constructor(past: readonly StepFailures[] = []) {
    for (const { step, counts } of past) {
      this.#saved.add(step)
      for (const count of counts) add(this.#at(step), count)
    }
  }

  take(event: Reported): void {
    if (event.type === 'run.started') {
      this.#final = new Map() // what follows training is done again
      this.#keep(event.resumed_from_step ?? -1)
    } else if (event.type === 'guard.tripped') {
      if (event.rolled_back_to !== undefined || (event.action ?? 'roll_back') === 'roll_back') {
        this.#keep(event.rolled_back_to ?? -1)
      }
    } else if (event.type === 'data.loaded') {
      const n = event.n_leaked ?? 0
      if (n > 0) add(this.#final, { kind: 'leaked_rows', n, of: event.n_rows + n })
    } else if (event.type === 'checkpoint.saved') this.#join(event.step)
    else if (event.type === 'rollout.finished') {
      const { step = 0, error } = event
      add(this.#at(step), { kind: 'rollouts', n: error === undefined ? 0 : 1, of: 1, message: error?.message })
    } else if (event.type === 'step.finished') {
      for (const count of ofStep(event.metrics)) add(this.#at(event.step), count)
    } else if (event.type === 'eval.finished') {
      const counts = event.step === undefined ? this.#final : this.#at(event.step)
      for (const count of ofEval(event)) add(counts, count)
    }
  }

  /** Of one kind, those that did not fail included; undefined: it could not happen. */
  of(kind: FailureKind): FailureCount | undefined {
    return this.#whole().get(kind)
  }

  /** The kinds that happened. */
  counts(): FailureCount[] {
    return [...this.#whole().values()].filter(({ n }) => n > 0)
  }

  /** What a later attempt has to know that resumes after `step`. */
  upTo(step: number): StepFailures[] {
    return this.#inOrder()
      .filter(([at]) => at <= step)
      .map(([at, counts]) => ({ step: at, counts: [...counts.values()] }))
  }

  #whole(): Counts {
    const whole: Counts = new Map()
    for (const counts of [...this.#inOrder().map(([, each]) => each), this.#final]) {
      for (const count of counts.values()) add(whole, count)
    }
    return whole
  }

  #inOrder(): [number, Counts][] {
    return [...this.#steps].sort(([a], [b]) => a - b)
  }

  #at(step: number): Counts {
    const known = this.#steps.get(step) ?? new Map()
    this.#steps.set(step, known)
    return known
  }

  #keep(step: number): void {
    for (const at of [...this.#steps.keys()]) if (at > step) this.#steps.delete(at)
  }

  #join(step: number): void {
    const earlier = this.#inOrder().filter(([at]) => at <= step && !this.#saved.has(at))
    this.#saved.add(step)
    if (earlier.length === 0) return
    for (const [at] of earlier) this.#steps.delete(at)
    for (const [, counts] of earlier) for (const count of counts.values()) add(this.#at(step), count)
  }
}

function add(counts: Counts, { kind, n, of, message }: FailureCount): void {
  const known = counts.get(kind) ?? { kind, n: 0, of: 0 }
  counts.set(kind, { kind, n: known.n + n, of: known.of + of, message: known.message ?? message })
}

function ofStep(metrics: Metrics): FailureCount[] {
  // Metrics of a phase carry its label.
  const value = (name: string) => {
    const key = Object.keys(metrics).find((each) => each === name || each.endsWith(`/${name}`))
    return Math.round(key === undefined ? 0 : (metrics[key] ?? 0))
  }
  const rows = value('data/rows') + value('data/pairs')
  const dropped = value('data/dropped_rows')
  const all: FailureCount[] = [
    { kind: 'empty_steps', n: value('train/skipped_empty_batch'), of: 1 },
    { kind: 'constant_groups', n: value('group/constant'), of: value('group/count') },
    { kind: 'cut_answers', n: value('rollout/cut:sum'), of: value('rollout/answers:sum') },
    { kind: 'dropped_rows', n: dropped, of: rows + dropped },
    { kind: 'cut_rows', n: value('data/truncated_rows'), of: rows + dropped },
  ]
  return all.filter(({ of }) => of > 0)
}

type Evaluated = Omit<Extract<Item, { type: 'eval.finished' }>, 'seq' | 'at' | 'run_id'>

function ofEval({ rewards, n_tasks, n_infra_failed, n_agent_failed = 0, failures, error }: Evaluated): FailureCount[] {
  const attempts = rewards === undefined ? n_tasks : Object.values(rewards).reduce((sum, each) => sum + each.length, 0)
  const first = (cause: 'agent' | undefined) => failures?.find((each) => each.cause === cause)?.message
  const lost = attempts === 0 && error !== undefined ? 1 : n_infra_failed // a scorer that gave nothing at all
  const all: FailureCount[] = [
    {
      kind: 'answers',
      n: lost,
      of: Math.max(attempts, lost),
      message: lost === 0 ? undefined : (first(undefined) ?? error?.message),
    },
    { kind: 'agents', n: n_agent_failed, of: attempts, message: first('agent') },
  ]
  return all.filter(({ of }) => of > 0)
}
