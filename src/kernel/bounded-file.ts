// The text of a file that others may have put there: it may be a pipe without end, a folder, a device, or have any size.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { EvsysError } from './evsys-error.ts'
import { fileError } from './file-error.ts'

/** Reads a file of at most so many bytes; `name` is what errors call it. Throws a typed error. */
export async function readBoundedText(path: string, mostBytes: number, name = path): Promise<string> {
  try {
    // Not blocking: opening a pipe that no one writes to would wait for ever.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await file.stat()
    if (!found.isFile()) throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'ENXIO' })
    if (found.size > mostBytes) {
      throw new EvsysError('DATA_READ', `${name} has ${found.size} bytes, more than the ${mostBytes} that are read`, {
        fix: 'look at what it holds; such a file is smaller.',
      })
    }
    return await file.readFile('utf8')
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError('read', name, cause)
  }
}
