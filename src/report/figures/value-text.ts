// Numbers of one session as people read them: as many decimals as the noise leaves meaning to, the same for all of its scores.
import { numberText } from '../../kernel/index.ts'
import type { Outcome } from './placed-attempt.ts'

export interface NumberWords {
  /** A dash where there is none. */
  score(value: number | undefined): string
  /** With its sign. */
  gain(value: number | undefined): string
  /** Two significant digits: more of a standard deviation is never known. */
  noise(value: number): string
  range(interval: readonly [number, number] | undefined): string
}

const none = '–'

/** Words for scores about as large as `typical`, whose noise is `sigma`; without noise, six significant digits. */
export function numberWords({ typical, sigma }: { typical: number; sigma?: number | undefined }): NumberWords {
  const finest = sigma === undefined || sigma <= 0 ? Math.abs(typical || 1) * 1e-5 : sigma / 10
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(finest))))
  const fixed = (value: number, digits = decimals) => {
    const text = Math.abs(value) >= 1e9 ? numberText(value) : value.toFixed(digits)
    return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−')
  }
  // An end that is not zero is not printed as zero: on which side of it an interval ends is what is claimed.
  const rangeText = ([low, high]: readonly [number, number]) => {
    const nearest = Math.min(...[low, high].map(Math.abs).filter((end) => end > 0), Number.POSITIVE_INFINITY)
    const digits = Math.min(20, Math.max(decimals, Math.ceil(-Math.log10(nearest))))
    return `${fixed(low, digits)} to ${fixed(high, digits)}`
  }
  return {
    score: (value) => (value === undefined ? none : fixed(value)),
    gain: (value) =>
      value === undefined ? none : `${Number(fixed(value).replace('−', '-')) > 0 ? '+' : ''}${fixed(value)}`,
    noise: (value) => (value === 0 ? '0' : numberText(Number(value.toPrecision(2)))),
    range: (interval) => (interval === undefined ? none : rangeText(interval)),
  }
}

const words: Readonly<Record<Outcome, string>> = {
  baseline: 'baseline',
  confirmed: 'confirmed',
  provisional: 'kept, provisional',
  inconclusive: 'near miss',
  discarded: 'discarded',
  failed: 'failed',
  running: 'still running',
}

/** What became of an attempt, for people. */
export function outcomeWord(outcome: Outcome): string {
  return words[outcome]
}

/** `2026-01-31T18:00:12.123Z` as `2026-01-31 18:00 UTC`. */
export function timeText(at: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(at) ? `${at.slice(0, 16).replace('T', ' ')} UTC` : at
}
