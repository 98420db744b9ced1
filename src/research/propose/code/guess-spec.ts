// What a literal may be where nobody said: wide enough to find a gain, narrow enough that most values run.
import type { KnobSpec, KnobValue } from '../../../contracts/index.ts'

// Of the task, not of the candidate: turning them breaks the run or the comparison.
const fixed =
  /(?:^|_)(?:SEEDS?|RNG|PATH|DIR|DIRS|FILE|FOLDER|URL|DEVICE|VERSION|PORT|DTYPE|SECONDS|TIMEOUT|BUDGET|CLASSES|VOCAB|INPUTS?|OUTPUTS?|CHANNELS_IN|EPS|EPSILON|EVAL|LOG|DEBUG|PHASE|SPLIT|IMAGE|SIDE|PIXELS)(?:_|$)/
const share = /DROP|PROB|RATIO|FRAC|SMOOTH|SHARE|MASK/
const average = /MOMENTUM|BETA|EMA|AVERAGE|DECAY/

/** The range of a knob by its name and its value in the code; undefined: it is left alone. */
export function guessSpec(name: string, value: KnobValue, isWhole: boolean): KnobSpec | undefined {
  if (fixed.test(name)) return undefined
  if (typeof value === 'boolean') return { kind: 'choice', values: [false, true], ordered: false }
  if (typeof value === 'string') return undefined
  return isWhole ? wholeSpec(value) : realSpec(name, value)
}

function wholeSpec(value: number): KnobSpec | undefined {
  if (value < 0) return undefined
  if (value <= 1) return { kind: 'range', low: value, high: value + 4, log: false, integer: true }
  // Widths and batches divide one another: a power of two stays one.
  if (value >= 8 && Number.isInteger(Math.log2(value)))
    return { kind: 'choice', values: [value / 4, value / 2, value, value * 2, value * 4], ordered: true }
  return { kind: 'range', low: Math.max(1, Math.round(value / 4)), high: value * 4, log: true, integer: true }
}

function realSpec(name: string, value: number): KnobSpec {
  const range = (low: number, high: number, log = false): KnobSpec => ({
    kind: 'range',
    low,
    high,
    log,
    integer: false,
  })
  if (share.test(name) && value >= 0 && value < 1) return range(0, Math.max(0.5, rounded((1 + value) / 2)))
  // What is left of an average matters: 0.9 is to 0.99 as 0.99 is to 0.999.
  if (average.test(name) && value >= 0.5 && value < 1)
    return range(rounded(Math.max(0, 1 - (1 - value) * 5)), rounded(1 - (1 - value) / 10))
  if (value === 0) return range(0, /DECAY|L1|L2|PENALTY/.test(name) ? 0.1 : 1)
  return value > 0 ? range(rounded(value / 10), rounded(value * 10), true) : range(value * 2, rounded(value / 10))
}

function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
