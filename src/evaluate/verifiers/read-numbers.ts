// Numbers as people and models write them: 1,234.5, -3/4, 6.02e23, 6.02 x 10^23, $5, 40%.

export interface WrittenNumber {
  readonly value: number
  /** What follows it directly: a unit, `%`, or nothing. */
  readonly unit: string
}

const number = String.raw`[-+−–]?\s?[$€£]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?`
const pattern = new RegExp(
  String.raw`(?<![\w.])(?=[-+−–$€£.\d])(${number})(?:\s?(?:[x×*]|\\times|\\cdot)\s?10\s?\^\s?\{?\s?([-+−]?\d{1,3})\s?\}?|[eE]([-+]?\d{1,3}))?(?:\s?\/\s?(\d+(?:\.\d+)?))?\s{0,3}(\\?%|°?[A-Za-zµΩ°][\w/^²³·]{0,30})?`,
  'gu',
)

/** All numbers of a text, in order. A comma counts as a mark of thousands where three digits follow it. */
export function readNumbers(text: string): WrittenNumber[] {
  return [...text.matchAll(pattern)].flatMap(([, written = '', power, exponent, divisor, unit = '']) => {
    const digits = written.replace(/[−–]/g, '-').replace(/[\s$€£,+]/g, '')
    if (!/\d/.test(digits)) return []
    const scale = Number((power ?? exponent ?? '0').replace('−', '-'))
    const value = Number(`${digits}e${scale}`) / Number(divisor ?? 1)
    return Number.isFinite(value) ? [{ value, unit: unit.replace('\\', '') }] : []
  })
}
