// Rendered conversations in one file: a head with their lengths, then one record after the other. A record is read when it is asked
// for, with one call and no parsing, so that training data need not fit into memory as tokens.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Rendered } from '../../contracts/index.ts'
import { EvsysError, fileError } from '../../kernel/index.ts'

const magic = 0x53545645 // "EVTS"
const headBytes = 8
/** Token and message of a token take four bytes each, whether it was produced takes one. */
const tokenBytes = 9

/** The bytes of a shard, in the byte order of this machine, as all its readers are. */
export function encodeShard(conversations: readonly Rendered[]): Buffer {
  const total = conversations.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const bytes = Buffer.alloc(headBytes + conversations.length * 4 + total * tokenBytes)
  bytes.writeUInt32LE(magic, 0)
  bytes.writeUInt32LE(conversations.length, 4)
  let at = headBytes
  for (const { tokens } of conversations) at = bytes.writeUInt32LE(tokens.length, at)
  for (const { tokens, message, produced } of conversations) {
    for (const numbers of [tokens, message]) {
      bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), at)
      at += numbers.byteLength
    }
    bytes.set(produced, at)
    at += produced.length
  }
  return bytes
}

export interface OpenShard extends Disposable {
  readonly count: number
  at(index: number): Rendered
}

export function openShard(path: string): OpenShard {
  const file = attempt(path, () => openSync(path, 'r'))
  try {
    const head = read(file, path, 0, headBytes)
    const count = head.readUInt32LE(4)
    const size = fstatSync(file).size
    if (head.readUInt32LE(0) !== magic || headBytes + count * 4 > size) throw damaged(path)
    const lengths = read(file, path, headBytes, count * 4)
    const starts = new Float64Array(count + 1)
    starts[0] = headBytes + count * 4
    for (let i = 0; i < count; i++) starts[i + 1] = (starts[i] ?? 0) + lengths.readUInt32LE(i * 4) * tokenBytes
    if (starts[count] !== size) throw damaged(path)
    return {
      count,
      at(index) {
        const start = starts[index]
        const end = starts[index + 1]
        if (start === undefined || end === undefined) throw new RangeError(`${path} has no record ${index}`)
        const bytes = read(file, path, start, end - start)
        const length = bytes.length / tokenBytes
        return {
          tokens: new Int32Array(bytes.buffer, bytes.byteOffset, length),
          message: new Int32Array(bytes.buffer, bytes.byteOffset + length * 4, length),
          produced: new Uint8Array(bytes.buffer, bytes.byteOffset + length * 8, length),
        }
      },
      [Symbol.dispose]: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

// Memory of its own: numbers begin at a multiple of four, and the reader may keep them.
function read(file: number, path: string, position: number, size: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(size))
  let done = 0
  while (done < size) {
    const got = attempt(path, () => readSync(file, bytes, done, size - done, position + done))
    if (got === 0) throw damaged(path)
    done += got
  }
  return bytes
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

function damaged(path: string): EvsysError {
  return new EvsysError('DATA_READ', `${path} is no whole shard of tokens`, {
    fix: 'remove its folder: it is made anew at the next start.',
  })
}
