// What may happen to a controller, and the messages that say when.
import * as z from 'zod'

export const DisturbanceKind = z.enum(['kill', 'kill-then-two', 'two-controllers', 'clock-jump', 'full-disk'])
export type DisturbanceKind = z.infer<typeof DisturbanceKind>

/** Each in a sentence. */
export const disturbances: Readonly<Record<DisturbanceKind, string>> = {
  kill: 'the controller is ended by SIGKILL, and the session resumed',
  'kill-then-two': 'the controller is ended by SIGKILL, and two others resume the session at once',
  'two-controllers': 'the controller is held still, for 3 s at most, while another one tries to take its session',
  'clock-jump': 'Date of the controller jumps by up to 30 days, back or forth, and stays there',
  'full-disk': 'the disk of the record becomes full, and is freed before the session is resumed',
}

/** What the preloaded module does to the process it is in. */
export const Disturb = z.strictObject({
  /** The program that is meant, and none that it starts. */
  program: z.string(),
  /** Folder for what it reports: `operations`, `disturbed`, and the ballast. */
  dir: z.string(),
  act: z.enum(['nothing', 'kill', 'hold', 'clock', 'fill']),
  /** The asynchronous operation at which it acts. */
  at: z.int().min(0),
  /** By how much the clock jumps. */
  jumpMs: z.number(),
})
export type Disturb = z.infer<typeof Disturb>

/** Variable of the environment that holds a `Disturb`. */
export const disturbVariable = 'EVSYS_BENCH_DISTURB'

/** Files that the disturbed process and who disturbs it know each other by. */
export const marks = { operations: 'operations', disturbed: 'disturbed', released: 'released', ballast: 'ballast' }

/** One session with what happens to it. */
export const ChaosSession = z.strictObject({
  /** The command line of evsys without its arguments. */
  evsys: z.array(z.string()).min(1),
  dir: z.string(),
  kind: DisturbanceKind.optional(),
  at: z.int().min(0),
  jumpMs: z.number(),
  seed: z.int(),
  experiments: z.int().min(1),
})
export type ChaosSession = z.infer<typeof ChaosSession>

/** How it went. */
export const ChaosEnd = z.strictObject({
  /** Asynchronous operations of the first controller. */
  operations: z.int(),
  /** It happened before the session was over. */
  disturbed: z.boolean(),
  /** Hash of the canonical record; null: it holds no session, or several. */
  canonical: z.string().nullable(),
  /** Calls of the proposer that were sent again. */
  sentAgain: z.int(),
  /** Exit codes, or signals, of all controllers in order. */
  ends: z.array(z.union([z.int(), z.string()])),
  /** What the last one that failed said. */
  said: z.string().optional(),
})
export type ChaosEnd = z.infer<typeof ChaosEnd>
