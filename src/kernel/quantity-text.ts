// Quantities as people read them: no more digits than are known, a unit that fits.

/** Four significant digits. */
export function numberText(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  return size >= 0.0001 && size < 1e9 ? String(Number(value.toPrecision(4))) : value.toExponential(2)
}

export function signedText(value: number): string {
  return value > 0 ? `+${numberText(value)}` : numberText(value)
}

export function rangeText([lower, upper]: readonly [number, number]): string {
  return `${numberText(lower)} to ${numberText(upper)}`
}

/** `0 s`, `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `1 d 3 h`. */
export function durationText(seconds: number): string {
  if (seconds === 0) return '0 s'
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return joined([Math.floor(whole / 60), 'min'], [whole % 60, 's'])
  const minutes = Math.round(whole / 60)
  if (minutes < 24 * 60) return joined([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min'])
  const hours = Math.round(minutes / 60)
  return joined([Math.floor(hours / 24), 'd'], [hours % 24, 'h'])
}

function joined(...parts: readonly (readonly [amount: number, unit: string])[]): string {
  return parts
    .filter(([amount], i) => i === 0 || amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** `912 bytes`, `4.2 MB`: powers of 1000, as disks count. */
export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'] as const
  if (bytes < 1000) return countText(bytes, 'byte')
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3))
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power - 1]}`
}

/** `1 run`, `3 runs`. */
export function countText(n: number, noun: string): string {
  return `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`
}

export function usdText(usd: number): string {
  return usd === 0 ? '$0' : usd < 0.01 ? `$${Number(usd.toPrecision(2))}` : `$${usd.toFixed(2)}`
}

/** How fast an engine computes. */
export function speedText(gflops: number): string {
  return `${gflops < 10 ? gflops.toFixed(1) : Math.round(gflops)} GFLOP/s`
}
