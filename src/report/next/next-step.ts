// What could be tried next, and what it is worth: the chance that it settles something, for what it takes.

export interface NextStep {
  readonly kind: 'resume' | 'decide' | 'confirm' | 'near_miss' | 'hypothesis' | 'untried' | 'idea'
  /** What to do, in a line. */
  readonly title: string
  readonly why: string
  /** Experiment or session that it belongs to. */
  readonly experiment_id: string
  readonly name: string
  /** Attempt of a session. */
  readonly attempt?: string | undefined
  /** Line to type; absent: it needs a person's hand. */
  readonly command?: string | undefined
  /** Runs that it takes, and what they cost by what such runs took before. Null: not known. */
  readonly runs: number
  readonly seconds: number | null
  readonly usd: number | null
  /** Chance that it settles its question, from 0 to 1. */
  readonly chance: number
}

export interface RankedStep extends NextStep {
  readonly rank: number
  /** Questions settled per hour. Null: how long it takes is not known. */
  readonly per_hour: number | null
}

/** What an hour of a machine with an accelerator costs, roughly: it turns dollars into time, to have one measure. */
const usdPerHour = 2
/** Where neither time nor cost is known, a run counts as this long. */
const assumedRunSeconds = 300

/** Steps by what they settle for their cost, the best first. Equal ones stay in the order given. */
export function rankNext(steps: readonly NextStep[]): RankedStep[] {
  return steps
    .map((step, i) => ({ step, i, value: step.chance / hoursOf(step) }))
    .sort((a, b) => b.value - a.value || a.i - b.i)
    .map(({ step, value }, i) => ({
      ...step,
      rank: i + 1,
      per_hour: step.seconds === null && step.usd === null ? null : value,
    }))
}

function hoursOf({ runs, seconds, usd }: NextStep): number {
  const time = seconds ?? (usd === null ? Math.max(1, runs) * assumedRunSeconds : 0)
  // A second is nothing: what takes less is free.
  return Math.max(1, time) / 3600 + (usd ?? 0) / usdPerHour
}

/** An effect with its sign, to three digits. */
export function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${Number(value.toPrecision(3))}`
}
