// A request that an engine cannot carry out as it stands. It changes nothing, and the model can still be used.
import { EvsysError } from '../kernel/index.ts'

/** The error for a refused request. */
export function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_REFUSED', message, { fix })
}

/** A model of an engine by its id. */
export function loaded<T>(models: ReadonlyMap<string, T>, id: string): T {
  const found = models.get(id)
  if (found !== undefined) return found
  throw refused(`no model is called "${id}"`, 'create it first.')
}
