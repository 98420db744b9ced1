// A range of values along an axis, with round numbers to mark on it.

export interface Scale {
  readonly low: number
  readonly high: number
  /** Place of a value, 0 at `low` and 1 at `high`; values beyond are put at the ends. */
  at(value: number): number
  readonly ticks: readonly number[]
}

/** A scale from `low` to `high` with about `count` ticks at round values inside it. */
export function linearScale(low: number, high: number, count: number): Scale {
  const span = high - low
  const isFlat = !(span > Math.abs(high) * 1e-12)
  const from = isFlat ? low - (Math.abs(low) || 1) / 2 : low
  const to = isFlat ? high + (Math.abs(high) || 1) / 2 : high
  const step = roundStep((to - from) / count)
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return {
    low: from,
    high: to,
    at: (value) => Math.min(1, Math.max(0, (value - from) / (to - from))),
    ticks: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step),
  }
}

/** How many decimals tell the ticks apart. */
export function tickDecimals({ ticks }: Scale): number {
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0))
  return Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (isWhole(step) ? 0 : extraDigit(step))))
}

// 1, 2 or 5 times a power of ten: what people count in.
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10
  return factor * power
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-9
}

// 0.5 needs one decimal, as log10 says; 0.25 would need two, but steps are 1, 2 or 5.
function extraDigit(step: number): number {
  const scaled = step * 10 ** Math.ceil(-Math.log10(step) - 1e-9)
  return isWhole(scaled) ? 0 : 1
}
