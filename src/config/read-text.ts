// Reads a file that a person named. It may be missing, a folder, a device without end, huge, or no text at all.
import { isUtf8 } from 'node:buffer'
import { constants, open } from 'node:fs/promises'
import { fileError, type Problem } from '../kernel/index.ts'
import { maxLength } from './parse-yaml.ts'

export type ReadText = { text: string } | { problem: Pick<Problem, 'message' | 'fix' | 'where' | 'excerpt'> }

/** The text of a UTF-8 file, without its byte order mark; or what is wrong with it. `name` is what errors call it. */
export async function readText(path: string, name: string, signal?: AbortSignal): Promise<ReadText> {
  let bytes: Buffer
  try {
    // Not blocking: opening a pipe that nobody writes to would wait for ever.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    const limit = maxLength * 4 // bytes of the longest text that is read
    if (found.size > limit) {
      return {
        problem: {
          message: `${name} has ${found.size} bytes, more than ${limit}`,
          fix: 'put data rows into a file of their own.',
        },
      }
    }
    bytes = await file.readFile(signal === undefined ? {} : { signal })
  } catch (cause) {
    signal?.throwIfAborted()
    const { message, fix } = fileError('read', name, cause)
    return { problem: { message, ...(fix === undefined ? {} : { fix }) } }
  }
  return isUtf8(bytes) ? { text: bytes.toString('utf8').replace(/^\uFEFF/, '') } : { problem: notUtf8(bytes, name) }
}

function notUtf8(bytes: Buffer, name: string): Extract<ReadText, { problem: unknown }>['problem'] {
  const isUtf16 = bytes[0] === 0xff ? bytes[1] === 0xfe : bytes[0] === 0xfe && bytes[1] === 0xff
  if (isUtf16)
    return { message: `${name} is UTF-16 text`, fix: 'save the file as UTF-8.', where: { file: name, line: 1, col: 1 } }
  let line = 1
  let start = 0
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start)
    const stop = newline === -1 ? bytes.length : newline
    const content = bytes.subarray(start, stop)
    if (!isUtf8(content)) return { ...badLine(content, line, name) }
    start = stop + 1
    line += 1
  }
  return { message: `${name} is not UTF-8 text`, fix: 'save the file as UTF-8.' }
}

function badLine(content: Buffer, line: number, name: string) {
  const text = content.toString('utf8')
  const again = Buffer.from(text) // bytes that are no text have become U+FFFD: the first difference is the first of them
  const valid = content.findIndex((byte, i) => byte !== again[i])
  const col = content.subarray(0, Math.max(0, valid)).toString('utf8').length + 1
  return {
    message: 'this line is not UTF-8 text',
    fix: 'save the file as UTF-8.',
    where: { file: name, line, col },
    excerpt: { text, line, col, length: 1 },
  }
}
