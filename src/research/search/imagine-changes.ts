// Changes as a proposer might make them, thought of only to compare where they could start from: one to three knobs at random take
// another value; of two parents, that of the second where they differ.
import type { KnobSpec, Knobs, KnobValue, Random, SearchState } from '../../contracts/index.ts'

const mostKnobsChanged = 3

export interface ImagineOptions {
  readonly space: SearchState['space']
  readonly base: Knobs
  readonly partner?: Knobs
  readonly count: number
  readonly random: Random
}

/** Knobs of the base after each of so many changes; none where there is no knob to turn. */
export function imagineChanges({ space, base, partner, count, random }: ImagineOptions): Knobs[] {
  const names = Object.keys(space).filter((name) => name in base && isTurnable(space[name]))
  if (names.length === 0) return []
  return Array.from({ length: count }, () => {
    const knobs = { ...base }
    for (const name of drawn(names, 1 + random.int(mostKnobsChanged), random)) {
      const theirs = partner?.[name]
      const own = base[name]
      knobs[name] = theirs === undefined || theirs === own ? otherValue(space[name], own, random) : theirs
    }
    return knobs
  })
}

function isTurnable(spec: KnobSpec | undefined): boolean {
  return spec !== undefined && (spec.kind === 'range' ? spec.high > spec.low : spec.values.length > 1)
}

function drawn(names: readonly string[], count: number, random: Random): string[] {
  const left = [...names]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.int(left.length), 1)).flat()
}

function otherValue(spec: KnobSpec | undefined, own: KnobValue | undefined, random: Random): KnobValue {
  if (spec?.kind === 'choice') {
    const others = spec.values.filter((value) => value !== own)
    return others[random.int(others.length)] ?? ''
  }
  if (spec === undefined) return own ?? ''
  const { low, high, log, integer } = spec
  const [turn, back] = log && low > 0 ? [Math.log, Math.exp] : [(x: number) => x, (x: number) => x]
  const value = back(turn(low) + random.float() * (turn(high) - turn(low)))
  return integer ? Math.round(value) : value
}
