// Points of a catalogue without a model of its scores: any point, and the points one step from another. Both follow from their draws
// alone, and every point is in its one form: what has no effect has its default.
import type { EditCatalog, EditKnob, KnobSpec, Knobs, KnobValue, Random } from '../../../contracts/index.ts'
import { isActive, settledKnobs } from './knob-values.ts'

/** A point anywhere in the space. */
export function sampleKnobs(catalog: EditCatalog, random: Random): Knobs {
  const drawn = Object.entries(catalog.knobs).map(([name, { spec }]) => [name, drawValue(spec, random)] as const)
  return settledKnobs(Object.fromEntries(drawn), catalog)
}

/** Every point that differs in one knob that has an effect, and there by one step. */
export function neighbourKnobs(catalog: EditCatalog, knobs: Knobs): Knobs[] {
  const own = settledKnobs(knobs, catalog)
  return Object.entries(catalog.knobs).flatMap(([name, knob]) => {
    const value = own[name]
    if (value === undefined || !isActive(knob, own)) return []
    return stepsFrom(knob, value).map((next) => settledKnobs({ ...own, [name]: next }, catalog))
  })
}

function drawValue(spec: KnobSpec, random: Random): KnobValue {
  if (spec.kind === 'choice') return spec.values[random.int(spec.values.length)] ?? ''
  return valueAt(spec, random.float())
}

type Range = Extract<KnobSpec, { kind: 'range' }>

/** The value at a share of a range: whole where it has to be, others with as many digits as a person would write. */
function valueAt(spec: Range, share: number): number {
  const { low, high, log, integer } = spec
  const raw = log ? Math.exp(Math.log(low) + share * (Math.log(high) - Math.log(low))) : low + share * (high - low)
  const value = integer ? Math.round(raw) : Number(raw.toPrecision(3))
  return Math.min(high, Math.max(low, value))
}

function shareOf({ low, high, log }: Range, value: number): number {
  if (!(high > low)) return 0
  return log ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value - low) / (high - low)
}

/** Share of a range that one step goes. */
const stepShare = 0.15

function stepsFrom({ spec }: EditKnob, value: KnobValue): KnobValue[] {
  if (spec.kind === 'choice') {
    const at = spec.values.indexOf(value)
    if (!spec.ordered) return spec.values.filter((each) => each !== value)
    return [spec.values[at - 1], spec.values[at + 1]].filter((each) => each !== undefined)
  }
  if (typeof value !== 'number') return []
  const share = shareOf(spec, value)
  const near = [share - stepShare, share + stepShare].map((each) => valueAt(spec, Math.min(1, Math.max(0, each))))
  // A whole number moves by one where a step of the range is less than that.
  const whole = spec.integer ? [Math.max(spec.low, value - 1), Math.min(spec.high, value + 1)] : []
  const all = near.map((each, i) => (each === value ? (whole[i] ?? each) : each))
  return [...new Set(all)].filter((each) => each !== value)
}
