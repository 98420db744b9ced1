// The text of a data file that a person named. It may be missing, a folder, a device without end, huge, or no text.
import { isUtf8 } from 'node:buffer'
import { constants, open } from 'node:fs/promises'
import { EvsysError, fileError } from '../kernel/index.ts'

/** Text of this length still fits into one string. */
const mostBytes = 500_000_000

/** Reads a UTF-8 file; `name` is what errors call it. */
export async function readNamedFile(path: string, name: string, signal: AbortSignal): Promise<string> {
  let bytes: Buffer
  try {
    // Not blocking: opening a pipe that nobody writes to would wait for ever.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    if (found.size > mostBytes) throw unreadable(name, `has ${found.size} bytes, more than ${mostBytes}`)
    bytes = await file.readFile({ signal })
  } catch (cause) {
    signal.throwIfAborted()
    if (EvsysError.is(cause)) throw cause
    const { message, fix } = fileError('read', name, cause)
    throw new EvsysError('DATA_READ', message, { cause, ...(fix === undefined ? {} : { fix }) })
  }
  if (isUtf8(bytes)) return bytes.toString('utf8').replace(/^\uFEFF/, '')
  throw new EvsysError('DATA_INVALID', `${name} is no UTF-8 text`, {
    where: { file: name, line: 1, col: 1 },
    fix: 'give it an exported experiment, or a table with tabs, saved as UTF-8.',
  })
}

function unreadable(name: string, why: string): EvsysError {
  return new EvsysError('DATA_READ', `${name} ${why}`, { fix: 'split it.' })
}
