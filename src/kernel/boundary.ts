// Where foreign code is called: whatever it throws leaves as one of our errors, named after the boundary it crossed.
import type { ErrorCode } from '../contracts/index.ts'
import { EvsysError } from './evsys-error.ts'
import { messageOf } from './message-of.ts'

/** Runs `work` and turns what it throws into an `EvsysError` with `code`, saying `what` failed. */
export async function boundary<T>(
  code: ErrorCode,
  what: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (signal.aborted || EvsysError.is(cause)) throw cause // the caller cancelled: not a failure
    throw new EvsysError(code, `${what}: ${messageOf(cause)}`, { cause })
  }
}
