/** Bounds and times of a trainer. */
export type TrainerLimits = {
  /** How long an unfinished poll is held: below the 45 s after which clients give up on it. */
  holdMs: number
  /** A session that was silent for so long has ended. */
  sessionMs: number
  /** How long requests wait for one with a lower number. */
  gapMs: number
  /** How long results are kept, and how much of them. */
  keepMs: number
  keepBytes: number
  /** Results from this size on are announced before they are sent. */
  announceBytes: number
  bodyBytes: number
  /** Models in training at once. */
  models: number
  /** Weights that stay loaded for sampling. */
  samplersLoaded: number
}

export const defaultLimits: Readonly<TrainerLimits> = Object.freeze({
  holdMs: 30_000,
  sessionMs: 300_000,
  gapMs: 120_000,
  keepMs: 3_600_000,
  keepBytes: 1 << 30,
  announceBytes: 1 << 20,
  bodyBytes: 1 << 27,
  models: 64,
  samplersLoaded: 8,
})
