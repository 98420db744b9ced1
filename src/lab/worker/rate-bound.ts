// How much of something may come at once and in the long run: a bucket that fills at a steady rate.

export interface RateBound {
  /** Takes an amount; false: it is more than there is, and nothing was taken. */
  take(amount: number): boolean
}

/** A full bucket of `burst` that gets `perSecond` back. */
export function createRateBound({
  burst,
  perSecond,
  now = () => performance.now(),
}: {
  burst: number
  perSecond: number
  /** Milliseconds on a clock that only goes forward. */
  now?: () => number
}): RateBound {
  let left = burst
  let lastMs = now()
  return {
    take(amount) {
      const nowMs = now()
      left = Math.min(burst, left + ((nowMs - lastMs) / 1000) * perSecond)
      lastMs = nowMs
      if (amount > left) return false
      left -= amount
      return true
    },
  }
}
