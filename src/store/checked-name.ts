// Names that become keys. What one database takes and the other refuses must not decide whether a record can be moved.
import { EvsysError } from '../kernel/index.ts'
import { toStored } from './stored-text.ts'

/** An index of PostgreSQL takes keys of a third of a page, 2,704 bytes, and the longest key is made of three names. */
const LONGEST_NAME_BYTES = 800

/** The name itself, or an error: it is empty or longer than an index can hold. */
export function checkedName(what: string, name: string): string {
  const bytes = Buffer.byteLength(toStored(name))
  if (bytes > 0 && bytes <= LONGEST_NAME_BYTES) return name
  throw new EvsysError(
    'DATA_INVALID',
    bytes === 0 ? `a ${what} is empty` : `a ${what} has ${bytes} bytes: "${name.slice(0, 40)}..."`,
    { fix: `use 1 to ${LONGEST_NAME_BYTES} bytes.` },
  )
}
