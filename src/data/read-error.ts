// A data file that cannot be read, as an error of the data it should have given.
import { EvsysError, fileError, systemCode } from '../kernel/index.ts'

/** The error for a file named `name` in which reading failed with `cause`. */
export function readError(name: string, cause: unknown): EvsysError {
  const { message, fix } = fileError('read', name, cause)
  const isMissing = systemCode(cause) === 'ENOENT'
  return new EvsysError('DATA_READ', message, {
    cause,
    fix: isMissing ? 'correct the path; it is relative to the file in which it is written.' : (fix ?? ''),
  })
}
