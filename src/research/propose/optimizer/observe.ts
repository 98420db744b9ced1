// What the attempts of a session say about its knobs: points with a loss, less what changes of the code and lucky seeds did to it.
import type { Attempt, SearchState } from '../../../contracts/index.ts'
import { type Dimension, type Point, pointOf } from './knob-space.ts'

export interface Observation {
  readonly attempt: Attempt
  readonly point: Point
  /** Lower is better. Undefined: it ended without a score. */
  readonly loss: number | undefined
  readonly seeds: number
  readonly failure: 'oom' | 'other' | undefined
}

export interface Observations {
  readonly all: readonly Observation[]
  /** Sd of one score around the candidate's own mean; undefined: unknown. */
  readonly noise: number | undefined
  /** Candidates with the same code but for knobs have the same structure: the id of its first. */
  structureOf(attemptId: string): string
}

/** Failures that say something about the knobs; others are faults of the code or of the machine. */
const telling: ReadonlySet<string> = new Set(['oom', 'timeout', 'divergence', 'crash'])

/** Everything that was observed at points of this space. */
export function observe(state: SearchState, dimensions: readonly Dimension[]): Observations {
  const { losses, noise } = fitSeeds(state)
  const structures = new Map<string, string>()
  const offsets = new Map<string, number>()
  const byId = new Map(state.attempts.map((attempt) => [attempt.id, attempt]))
  const all: Observation[] = []
  for (const attempt of state.attempts) {
    const parent = byId.get(attempt.parents[0] ?? '')
    const above = structures.get(parent?.id ?? '')
    const isNew = parent === undefined || above === undefined || !isTurned(attempt, parent)
    const structure = isNew ? attempt.id : above
    structures.set(attempt.id, structure)
    const loss = losses.get(attempt.id)
    const before = offsets.get(above ?? '') ?? 0
    if (isNew) {
      const own = loss ?? losses.get(parent?.id ?? '')
      const theirs = losses.get(parent?.id ?? '')
      offsets.set(structure, before + (own === undefined || theirs === undefined ? 0 : own - theirs))
    }
    const point = pointOf(dimensions, attempt.knobs)
    const failure = failureOf(attempt)
    // The first of a structure says what its code did; of the knobs it repeats what its parent said.
    const repeats = isNew && parent !== undefined
    if (point === undefined || repeats || (loss === undefined && failure === undefined)) continue
    all.push({
      attempt,
      point,
      loss: loss === undefined ? undefined : loss - (offsets.get(structure) ?? 0),
      seeds: attempt.scores.length,
      failure,
    })
  }
  return { all, noise, structureOf: (id) => structures.get(id) ?? id }
}

function failureOf({ failure, scores }: Attempt): Observation['failure'] {
  if (failure === undefined || !telling.has(failure.class)) return undefined
  if (failure.class === 'oom') return 'oom'
  return scores.length === 0 ? 'other' : undefined
}

// The same number of lines and the same knobs with other values: only literals were changed.
function isTurned(attempt: Attempt, parent: Attempt): boolean {
  const names = Object.keys(attempt.knobs)
  return (
    attempt.lines === parent.lines &&
    names.length === Object.keys(parent.knobs).length &&
    names.every((name) => Object.hasOwn(parent.knobs, name)) &&
    names.some((name) => attempt.knobs[name] !== parent.knobs[name])
  )
}

/** Losses by attempt with the effect of seeds taken out: score = attempt + seed, by alternating means. */
function fitSeeds({ attempts, direction }: SearchState): { losses: Map<string, number>; noise: number | undefined } {
  const sign = direction === 'min' ? 1 : -1
  const scored = attempts.filter(
    ({ scores }) => scores.length > 0 && scores.every(({ value }) => Number.isFinite(value)),
  )
  const seeds = new Map<number, number>()
  const losses = new Map<string, number>()
  for (let round = 0; round < 20; round++) {
    for (const { id, scores } of scored)
      losses.set(id, mean(scores.map(({ seed, value }) => sign * value - (seeds.get(seed) ?? 0))))
    const rest = new Map<number, number[]>()
    for (const { id, scores } of scored)
      for (const { seed, value } of scores)
        rest.set(seed, [...(rest.get(seed) ?? []), sign * value - (losses.get(id) ?? 0)])
    for (const [seed, values] of rest) seeds.set(seed, values.length < 2 ? 0 : mean(values))
  }
  const residuals = scored.flatMap(({ id, scores }) =>
    scores.map(({ seed, value }) => sign * value - (losses.get(id) ?? 0) - (seeds.get(seed) ?? 0)),
  )
  const free = residuals.length - losses.size - seeds.size + 1
  const squares = residuals.reduce((sum, each) => sum + each * each, 0)
  return { losses, noise: free > 0 ? Math.sqrt(squares / free) : undefined }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length
}
