// Who a command really is. Inside it is root; outside it is whoever runs evsys, or, when that is root, an account of its own
// that owns nothing on this machine. Mapped to the real root it could write the settings of the kernel under /proc/sys.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Far above the accounts of people, services and containers. */
const first = 1_900_000_000
const count = 10_000_000
const nobody = 65_534

/** The account for the sandbox of a folder; undefined: commands stay who we are. */
export function accountFor(stateDir: string): Account | undefined {
  if (process.getuid?.() !== 0 || hasNoOther()) return undefined
  const number = createHash('sha256').update(stateDir).digest().readUInt32BE(0) % count
  const uid = highestUid() >= first + count ? first + number : nobody
  return { uid, gid: uid }
}

/** We are root of a namespace that knows nobody else: which account that is outside, and what it may do there, is not known. */
export function hasNoOther(): boolean {
  return process.getuid?.() === 0 && highestUid() === 0
}

// In a container that maps few accounts, most numbers do not exist.
function highestUid(): number {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n')
    return Math.max(
      ...lines.map((line) => {
        const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number)
        return inside + length - 1
      }),
    )
  } catch {
    return nobody
  }
}
