// A request that the engine cannot carry out as it stands. It changes nothing.
import { EvsysError } from '../../kernel/index.ts'

/** The error for a refused request. */
export function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `mock engine: ${message}`, { fix })
}
