// The places of a space from which a model expects the most, found by climbing: from the best that was tried and from draws at large, one
// knob after the other takes the value that promises most. Spaces may be mixed: choices, in order or not, and ranges.
import type { KnobSpec, Knobs, KnobValue, Random } from '../../contracts/index.ts'
import type { AttemptModel } from './attempt-model.ts'
import { logExpectedImprovement } from './gaussian-process.ts'

export interface PromisingPoint {
  readonly knobs: Knobs
  /** Logarithm of the gain that is expected there. */
  readonly worth: number
}

interface ClimbOptions {
  readonly model: AttemptModel
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Of the attempt whose code the points share: what is not turned stays as it is there. */
  readonly base: Knobs
  readonly parents: readonly string[]
  readonly boldness: number
  /** Points that were tried already promise nothing. */
  isNew(knobs: Knobs): boolean
  readonly random: Random
}

/** Climbs: so many from the best, and as many from draws at large. */
const climbs = { best: 3, drawn: 3 }
const mostRounds = 4
/** Values of one knob that are compared. */
const mostValues = 8

/** Distinct points, most promising first; none where there is no knob to turn. */
export function promisingPoints(options: ClimbOptions): PromisingPoint[] {
  const { model, space, base, random } = options
  const names = Object.keys(space).filter((name) => name in base && isTurnable(space[name]))
  if (names.length === 0) return []
  const worths = new Map<string, number>()
  const worthOf = (knobs: Knobs): number => {
    const key = names.map((name) => knobs[name]).join('\n')
    const known = worths.get(key)
    if (known !== undefined) return known
    const worth = options.isNew(knobs) ? expectedGain(options, knobs) : Number.NEGATIVE_INFINITY
    worths.set(key, worth)
    return worth
  }
  const own = (knobs: Knobs) => Object.fromEntries(names.map((name) => [name, knobs[name] ?? base[name] ?? '']))
  const starts = [
    ...model.best.slice(0, climbs.best).map(({ knobs }) => ({ ...base, ...own(knobs) })),
    ...Array.from({ length: climbs.drawn }, () => ({
      ...base,
      ...Object.fromEntries(names.map((name) => [name, drawnValue(space[name], random) ?? base[name] ?? ''])),
    })),
  ]
  const found = new Map<string, PromisingPoint>()
  for (const start of starts) {
    const top = climb(start, names, space, worthOf, random)
    if (Number.isFinite(top.worth)) found.set(names.map((name) => top.knobs[name]).join('\n'), top)
  }
  return [...found.values()].sort((a, b) => b.worth - a.worth)
}

function expectedGain({ model, parents, boldness }: ClimbOptions, knobs: Knobs): number {
  const { mean, sd } = model.imagine(knobs, parents)
  return logExpectedImprovement(mean, boldness * sd, model.top)
}

function climb(
  start: Knobs,
  names: readonly string[],
  space: ClimbOptions['space'],
  worthOf: (knobs: Knobs) => number,
  random: Random,
): PromisingPoint {
  let knobs = start
  let worth = worthOf(knobs)
  for (let round = 0; round < mostRounds; round++) {
    const before = worth
    for (const name of random.shuffle([...names])) {
      for (const value of valuesOf(space[name], knobs[name], random)) {
        const turned = { ...knobs, [name]: value }
        const promised = worthOf(turned)
        if (promised > worth) {
          worth = promised
          knobs = turned
        }
      }
    }
    if (!(worth > before)) break
  }
  return { knobs, worth }
}

export function isTurnable(spec: KnobSpec | undefined): boolean {
  return spec !== undefined && (spec.kind === 'range' ? spec.high > spec.low : spec.values.length > 1)
}

// Other values of a knob: all of a short list, else some at large and some near its own.
function valuesOf(spec: KnobSpec | undefined, own: KnobValue | undefined, random: Random): KnobValue[] {
  if (spec === undefined) return []
  if (spec.kind === 'choice') {
    const others = spec.values.filter((value) => value !== own)
    return others.length <= mostValues ? others : random.shuffle(others).slice(0, mostValues)
  }
  const at = typeof own === 'number' ? shareOf(spec, own) : 0.5
  return Array.from({ length: mostValues }, (_, i) =>
    valueAt(spec, i < mostValues / 2 ? random.float() : at + 0.1 * random.normal()),
  )
}

function drawnValue(spec: KnobSpec | undefined, random: Random): KnobValue | undefined {
  if (spec === undefined) return undefined
  return spec.kind === 'choice' ? spec.values[random.int(spec.values.length)] : valueAt(spec, random.float())
}

type Range = Extract<KnobSpec, { kind: 'range' }>

function shareOf(spec: Range, value: number): number {
  const turn = spec.log && spec.low > 0 ? Math.log : (x: number) => x
  return (turn(value) - turn(spec.low)) / (turn(spec.high) - turn(spec.low))
}

/** The value at a share of a range, from 0 to 1: with as many digits as a person would write. */
export function valueAt(spec: Range, share: number): number {
  const { low, high, log, integer } = spec
  const [turn, back] = log && low > 0 ? [Math.log, Math.exp] : [(x: number) => x, (x: number) => x]
  const value = back(turn(low) + Math.min(1, Math.max(0, share)) * (turn(high) - turn(low)))
  const written = integer ? Math.round(value) : Number(value.toPrecision(3))
  return Math.min(integer ? Math.floor(high) : high, Math.max(integer ? Math.ceil(low) : low, written))
}
