// A request that an engine cannot carry out as it stands. It changes nothing, and the model can still be used.
import { EvsysError } from '../kernel/index.ts'

/** The error for a refused request. */
export function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_REFUSED', message, { fix })
}
