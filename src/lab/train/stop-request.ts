// A callback's request to end training, and the step after which it is granted. One that follows from an evaluation is granted at
// the next fixed step, however early its answers were there: a run that was interrupted meanwhile ends at the same step.

export interface StopRequest {
  readonly reason: string | undefined
  /** True: training ends before this step. */
  isDue(step: number): boolean
  /** Granted after this step. */
  now(step: number): (reason: string) => void
  /** Granted after the first fixed step that follows this one. */
  from(step: number): (reason: string) => void
  reset(): void
}

export function createStopRequest(nextFixed: (step: number) => number): StopRequest {
  let granted: { reason: string; after: number } | undefined
  const ask = (reason: string, after: number) => {
    if (granted === undefined || after < granted.after) granted = { reason, after }
  }
  return {
    get reason() {
      return granted?.reason
    },
    isDue: (step) => granted !== undefined && step > granted.after,
    now: (step) => (reason) => ask(reason, step),
    from: (step) => (reason) => ask(reason, nextFixed(step)),
    reset() {
      granted = undefined
    },
  }
}
