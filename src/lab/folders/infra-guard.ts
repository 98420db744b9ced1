// When most attempts fail by infrastructure the rest would too: they are not made, and the reason is told once.
import { EvsysError } from '../../kernel/index.ts'

export interface InfraGuard {
  /** Hears how an attempt ended; `failure`: of infrastructure. */
  ended(failure: string | undefined): void
  /** Why no further attempt is made; absent: they go on. */
  readonly stopped: EvsysError | undefined
}

/** `least`: attempts that have to be over before anything is concluded from them. */
export function createInfraGuard(least: number): InfraGuard {
  let over = 0
  let failed = 0
  let stopped: EvsysError | undefined
  return {
    ended(failure) {
      over += 1
      if (failure === undefined) return
      failed += 1
      if (over < least || failed * 2 <= over) return
      stopped ??= new EvsysError(
        'ENVIRONMENT_FAILED',
        `not attempted: ${failed} of ${over} attempts failed by infrastructure, the last with: ${failure}`,
        { fix: 'see to that failure, then score again.' },
      )
    },
    get stopped() {
      return stopped
    },
  }
}
