// Unpacks zstd (RFC 8878) in plain TypeScript: Node has it since 22.15 alone. What it is given may be hostile: sizes are bounded before
// there is memory for them, the work is bounded by the sizes, and whatever the format lets one check is checked, the checksum included.
import { newState, readBlock, type Target } from './read-block.ts'
import { xxh64 } from './xxh64.ts'
import { damaged, ZstdFault } from './zstd-fault.ts'

/** The content of all frames together, which may be so many bytes. Throws a ZstdFault. */
export function unpackZstd(packed: Uint8Array, maxBytes: number): Uint8Array {
  let content: Uint8Array = new Uint8Array(Math.min(maxBytes, Math.max(1024, 4 * packed.length)))
  let size = 0
  let at = 0
  while (at < packed.length) {
    const read = new Reader(packed, at)
    const magic = read.number(4)
    if (magic === frameMagic) {
      const target = readFrame(read, content, size, maxBytes)
      content = target.bytes
      size = target.size
    } else if (magic >= skippableMagic && magic < skippableMagic + 16) read.bytes(read.number(4))
    else throw new ZstdFault('it is no zstd')
    at = read.at
  }
  if (at === 0) throw new ZstdFault('it is no zstd')
  return content.subarray(0, size)
}

const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50
const largestBlock = 2 ** 17
/** What every decoder has to take, also where the content is smaller. */
const smallestWindow = 8 * 2 ** 20

class Reader {
  readonly #all: Uint8Array
  at: number

  constructor(all: Uint8Array, at: number) {
    this.#all = all
    this.at = at
  }

  bytes(length: number): Uint8Array {
    if (this.at + length > this.#all.length) throw damaged('it ends too early')
    this.at += length
    return this.#all.subarray(this.at - length, this.at)
  }

  number(length: number): number {
    return this.bytes(length).reduceRight((value, byte) => value * 256 + byte, 0)
  }
}

function readFrame(read: Reader, content: Uint8Array, start: number, maxBytes: number): Target {
  const { contentBytes, windowBytes, hasChecksum } = readHead(read)
  const tooLarge = () => new ZstdFault(`it unpacks to more than ${maxBytes} bytes`, { isTooLarge: true })
  if (start + (contentBytes ?? 0) > maxBytes) throw tooLarge()
  if (windowBytes > Math.max(smallestWindow, maxBytes))
    throw new ZstdFault(`it needs ${windowBytes} bytes of memory`, { isTooLarge: true })
  const target: Target = { bytes: content, start, size: start, windowBytes }
  const state = newState()
  const mostBytes = Math.min(largestBlock, windowBytes)
  for (let isLast = false; !isLast; ) {
    const head = read.number(3)
    isLast = (head & 1) !== 0
    const kind = (head >> 1) & 3
    const length = head >> 3
    if (kind === 3 || length > mostBytes) throw damaged('a block has a wrong header')
    const block = read.bytes(kind === 1 ? 1 : length) // one byte stands for a run of it
    const needed = target.size + (kind === 2 ? mostBytes : length)
    if (kind !== 2 && needed > maxBytes) throw tooLarge()
    if (needed > target.bytes.length) target.bytes = grown(target, needed)
    if (kind === 2) readBlock(block, state, target, mostBytes)
    else {
      if (kind === 0) target.bytes.set(block, target.size)
      else target.bytes.fill(block[0] ?? 0, target.size, needed)
      target.size = needed
    }
    if (target.size > maxBytes) throw tooLarge()
  }
  const size = target.size - start
  if ((contentBytes ?? size) !== size) throw damaged('its content has another size than it says')
  if (hasChecksum && read.number(4) !== xxh64(target.bytes.subarray(start, target.size)))
    throw damaged('its checksum is that of another content')
  return target
}

function readHead(read: Reader) {
  const descriptor = read.number(1)
  const isSingle = (descriptor & 0x20) !== 0
  if ((descriptor & 0x08) !== 0) throw damaged('a reserved bit is set')
  const window = isSingle ? 0 : read.number(1)
  if (read.number([0, 1, 2, 4][descriptor & 3] ?? 0) !== 0) throw new ZstdFault('it needs a dictionary')
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const contentBytes = sizeBytes === 0 ? undefined : read.number(sizeBytes) + (sizeBytes === 2 ? 256 : 0)
  const windowBytes = isSingle ? (contentBytes ?? 0) : 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8)
  return { contentBytes, windowBytes, hasChecksum: (descriptor & 0x04) !== 0 }
}

function grown({ bytes, size }: Target, needed: number): Uint8Array {
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length))
  larger.set(bytes.subarray(0, size))
  return larger
}
