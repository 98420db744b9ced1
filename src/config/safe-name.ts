// Names that are made rather than written: of arms by their axis values, of benchmarks by their path. They become folder names,
// so whatever a value holds, what comes out is a valid Name.
import { Name } from '../contracts/index.ts'
import { hashOf, sha256 } from '../kernel/index.ts'

/** Bytes of a made name: a stage or seed behind it must still fit. */
const longest = 150
/** Bytes of one value inside a name. */
const longestValue = 40

/** A valid name as close to `text` as possible. */
export function safeName(text: string): string {
  const clean = cleaned(text).replace(/^[.\s]+|[.\s]+$/g, '')
  const short = Buffer.byteLength(clean) <= longest ? clean : `${cut(clean, longest)}-${sha256(text).slice(0, 8)}`
  return Name.safeParse(short).success ? short : `x-${sha256(text).slice(0, 8)}`
}

/** A value as a part of a name: `0.0001` is `0p0001`, a mapping its `kind` or `name`. */
export function valueLabel(value: unknown): string {
  const label = cleaned(labelText(value))
  return Buffer.byteLength(label) <= longestValue ? label : `${cut(label, longestValue)}-${hashOf(value).slice(0, 8)}`
}

function labelText(value: unknown): string {
  if (typeof value === 'number') return numberLabel(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(labelText).join('-')
  const title: unknown = Reflect.get(value, 'kind') ?? Reflect.get(value, 'name')
  return typeof title === 'string' ? title : hashOf(value).slice(0, 8)
}

// C's %g, as the first generation did, with `+` dropped and `.` written `p`; all digits where six are not enough.
function numberLabel(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value)
  const general = generalFormat(value)
  const exact = Number(general) === value ? general : String(value)
  return exact.replace('+', '').replace('.', 'p')
}

function generalFormat(value: number): string {
  const exponent = Number(value.toExponential(5).split('e')[1])
  if (exponent >= -4 && exponent < 6) return String(Number(value.toFixed(5 - exponent)))
  const [digits = '', power = ''] = value.toExponential(5).split('e')
  const sign = power.startsWith('-') ? '-' : '+'
  return `${Number(digits)}e${sign}${power.replace(/^[-+]/, '').padStart(2, '0')}`
}

function cleaned(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[/\\:*?"<>|\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}]/gu, '_')
    .replace(/\s+/g, ' ')
}

function cut(text: string, bytes: number): string {
  let short = text
  while (Buffer.byteLength(short) > bytes)
    short = short.slice(0, Math.max(1, Math.floor((short.length * bytes) / Buffer.byteLength(short))))
  return short.replace(/[\uD800-\uDBFF]$/, '')
}
