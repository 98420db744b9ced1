// Looks at the hidden split are counted, and share one chance of being wrong. A look spends a part of what is left of `claimLevel`; a
// look that confirms gives its part back, as its claim was tested and stands (the fallback procedure for claims that come one after
// another: Tian and Ramdas 2021, "Online control of the familywise error rate"). The look at the end may spend most of what is left.
// Levels depend on earlier looks alone and every look runs fresh seeds, so a session calls anything falsely confirmed with probability
// at most `claimLevel`.

/** Chance that a session confirms anything that is no better than its baseline: the bound; most sessions stay below it. */
export const claimLevel = 0.05

/** Looks that a session may take, its last one included. */
export const mostLooks = 8

/** Keeps from one look to the next, where nobody says otherwise. */
export const keepsBetweenLooks = 5

// A session that goes on after its end still has something left to spend.
const shares = { milestone: 1 / 4, request: 1 / 4, end: 3 / 4 } as const

export type LookReason = 'milestone' | 'end' | 'request'

/** What a look concluded. */
export interface LookRecord {
  /** Counts from 1. */
  readonly number: number
  readonly reason: LookReason
  /** Id of the attempt that was held against the baseline. */
  readonly champion: string
  /** Keeps of the session when it was planned. */
  readonly keeps: number
  /** Chance of being wrong that it spent. */
  readonly level: number
  /** One-sided p-value over the deciding seeds; 1 where the champion failed on any of them. */
  readonly p: number
  readonly confirmed: boolean
  /** Gain over the baseline on seeds that had no part in the decision. Absent: they were not run. */
  readonly reported?: ReportedGain
  /** In words for people. */
  readonly words: string
}

/** A gain on the hidden split, measured where nothing was decided. */
export interface ReportedGain {
  /** Mean over the reporting seeds; positive is better. */
  readonly gain: number
  readonly n: number
  /** Of 90 %; absent below two pairs. */
  readonly interval?: { readonly lower: number; readonly upper: number }
  /** Chance that one more run of each shows the champion ahead; absent below two pairs. */
  readonly probabilityBetter?: number
}

/** Level at which the next look may confirm. */
export function nextLevel(looks: readonly LookRecord[], reason: LookReason): number {
  const spent = looks.reduce((sum, { confirmed, level }) => sum + (confirmed ? 0 : level), 0)
  return Math.max(0, claimLevel - spent) * shares[reason]
}

export interface LookState {
  /** Id of the incumbent, and of attempt 0. */
  readonly champion: string
  readonly baseline: string
  readonly keeps: number
  readonly looks: readonly LookRecord[]
  /** The budget is spent, or a person ended the session. */
  readonly ending: boolean
  /** A person asked for a look. */
  readonly requested: boolean
  /** Keeps from one look to the next; 0: none but those that are asked for and the one at the end. Absent: 5. */
  readonly every?: number
}

/** Why a look at the hidden split is due now; undefined when none is. */
export function lookDue(state: LookState): LookReason | undefined {
  const { champion, baseline, keeps, looks, ending, requested, every = keepsBetweenLooks } = state
  if (champion === baseline) return undefined
  if (looks.some((look) => look.champion === champion && look.confirmed)) return undefined
  if (looks.length >= mostLooks) return undefined
  if (ending) return 'end'
  // The last one is for the end.
  if (looks.length >= mostLooks - 1) return undefined
  if (requested) return 'request'
  return every > 0 && keeps - (looks.at(-1)?.keeps ?? 0) >= every ? 'milestone' : undefined
}

/** Looks that a person may still ask for. */
export function looksLeft(looks: readonly LookRecord[]): number {
  return Math.max(0, mostLooks - 1 - looks.length)
}

/**
 * What the search may know of the hidden split (the ladder of Blum and Hardt 2015): a confirmed gain that is above the last one it was
 * told of by a step, the error of the measurement. All else would teach it the hidden split look by look.
 */
export function releasedGain(looks: readonly LookRecord[]): number | undefined {
  let released: number | undefined
  for (const { confirmed, reported } of looks) {
    if (!confirmed || reported?.interval === undefined) continue
    const step = (reported.interval.upper - reported.interval.lower) / 4
    if (released === undefined || reported.gain > released + step) released = reported.gain
  }
  return released
}
