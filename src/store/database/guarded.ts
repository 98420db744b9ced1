// The edge of this room: no error of a driver leaves it raw.
import { EvsysError } from '../../kernel/index.ts'
import type { Database } from './database.ts'

/** The same object, whose failures all are errors of evsys that say what to do. */
export function guarded<T extends object>(target: T, { explain }: Pick<Database, 'explain'>): T {
  const rethrow = (cause: unknown): never => {
    throw EvsysError.is(cause) ? cause : explain(cause)
  }
  const guard = (work: (...args: unknown[]) => unknown) => {
    return (...args: unknown[]) => {
      try {
        const result = work(...args)
        return result instanceof Promise ? result.catch(rethrow) : result
      } catch (cause) {
        return rethrow(cause)
      }
    }
  }
  const entries = Reflect.ownKeys(target).map((key) => {
    const value: unknown = Reflect.get(target, key)
    return [key, typeof value === 'function' ? guard(value.bind(target)) : value] as const
  })
  return Object.fromEntries(entries) as T // key by key the same
}
