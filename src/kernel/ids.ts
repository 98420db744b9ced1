// Names for experiments, runs and all that is recorded: `run_01hf7yat1g3m5x9c2k8dq4bwn0`. Sorting them by text sorts them by
// time. A prefix says what kind of thing it names; Crockford's base 32 has no letters that look alike, and lower case is
// safe on disks that do not tell cases apart.
import type { Clock } from './clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
// 48 bits of milliseconds and 80 random bits, as in a ULID: 10 + 16 characters.
const timeLength = 10
const randomLength = 16
const lastTime = 2 ** 48 - 1

export type Id<P extends string = string> = `${P}_${string}`

export type Ids = {
  /** A new id, greater than all that this maker made before, also within one millisecond and when the clock goes back. */
  next<P extends string>(prefix: P): Id<P>
}

/** Makes ids. `random` must differ between processes (`systemRandom`) unless they are meant to make the same ids. */
export function createIds({ clock, random }: { clock: Pick<Clock, 'now'>; random: { uint32(): number } }): Ids {
  let timeMs = -1
  const digits = new Uint8Array(randomLength)
  return {
    next(prefix) {
      checkPrefix(prefix)
      const nowMs = Math.min(Math.max(0, Math.floor(clock.now())), lastTime)
      if (nowMs > timeMs) {
        timeMs = nowMs
        draw(digits, random)
      } else if (!increment(digits)) {
        timeMs += 1 // 2^80 ids in one millisecond: borrow from the next
        draw(digits, random)
      }
      return `${prefix}_${timeText(timeMs)}${Array.from(digits, (digit) => alphabet[digit]).join('')}`
    },
  }
}

function checkPrefix(prefix: string): void {
  if (!/^[a-z][a-z0-9]{0,15}$/.test(prefix)) {
    throw new RangeError(`"${prefix}" is no prefix of an id: use 1 to 16 lower-case letters and digits`)
  }
}

function draw(digits: Uint8Array, random: { uint32(): number }): void {
  for (let i = 0; i < digits.length; i++) digits[i] = random.uint32() >>> 27 // the upper 5 bits
}

function increment(digits: Uint8Array): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    const digit = digits[i] ?? 0
    if (digit < 31) {
      digits[i] = digit + 1
      return true
    }
    digits[i] = 0
  }
  return false
}

function timeText(timeMs: number): string {
  let text = ''
  for (let i = 0, rest = timeMs; i < timeLength; i++, rest = Math.floor(rest / 32))
    text = `${alphabet[rest % 32]}${text}`
  return text
}
