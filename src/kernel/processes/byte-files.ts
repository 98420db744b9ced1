// Frames between two processes, in their order, with large byte arrays in files beside them: pipes are slow, and a gigabyte takes a
// second this way instead of twenty. Knows where frames hold bytes, not what they are for.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** So many bytes are not worth a file. */
const fewBytes = 2 ** 18

/** Arrays stand near the top of a frame: it is not searched for them further down. */
const deepest = 4

interface Packed {
  readonly frame: unknown
  /** Where the arrays stood, and the files they are in. */
  readonly files: readonly { readonly path: readonly string[]; readonly file: string }[]
}

export interface FilePortOptions {
  post(frame: unknown, sent: () => void): void
  take(frame: unknown): void
  /** What arrived cannot be taken: `take` threw, or a file is gone. */
  onFault(): void
}

/** One end of a pipe between two processes of our own. The reader of a file removes it. */
export class FilePort {
  readonly #post: (frame: unknown, sent: () => void) => void
  readonly #take: (frame: unknown) => void
  readonly #onFault: () => void
  #sending = Promise.resolve()
  #taking = Promise.resolve()
  #folder: string | undefined
  #files = 0

  constructor(options: FilePortOptions) {
    this.#post = options.post
    this.#take = options.take
    this.#onFault = options.onFault
  }

  /** From here on both ends put large arrays into files of this folder. */
  useFolder(folder: string): void {
    this.#folder = folder
    this.#queue({ bytesFolder: folder })
  }

  send(frame: unknown): void {
    const folder = this.#folder
    const found = folder === undefined ? [] : largeArrays(frame)
    if (folder === undefined || found.length === 0) this.#queue(frame)
    else this.#queue(this.#pack(frame, found, folder))
  }

  /** Settles when everything so far has left, or never will. */
  drained(): Promise<void> {
    return this.#sending
  }

  receive(wire: unknown): void {
    const { bytesFolder, files } = Object(wire) as { bytesFolder?: string } & Partial<Packed> // of the other end, which is ours too
    if (bytesFolder !== undefined) this.#folder = bytesFolder
    else {
      const arrived = async () => this.#take(files === undefined ? wire : await unpacked(wire as Packed)) // `files` says so
      this.#taking = this.#taking.then(arrived).catch(this.#onFault)
    }
  }

  #queue(frame: unknown): void {
    this.#sending = this.#sending.then(async () => {
      const ready = await frame
      await new Promise<void>((resolve) => {
        this.#post(ready, resolve)
      })
    })
  }

  async #pack(frame: unknown, found: readonly LargeArray[], folder: string): Promise<unknown> {
    const files: { path: readonly string[]; file: string }[] = []
    let packed = frame
    for (const { path, bytes } of found) {
      const file = join(folder, `${process.pid}-${this.#files++}`)
      try {
        await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
        packed = replaced(packed, path, undefined)
        files.push({ path, file })
      } catch {
        await rm(file, { force: true }) // no room on the disk: the slow way
      }
    }
    return { frame: packed, files } satisfies Packed
  }
}

async function unpacked({ frame, files }: Packed): Promise<unknown> {
  let whole = frame
  for (const { path, file } of files) {
    whole = replaced(whole, path, await readFile(file))
    await rm(file, { force: true })
  }
  return whole
}

interface LargeArray {
  readonly path: readonly string[]
  readonly bytes: Uint8Array
}

/** Byte arrays of a frame that are worth a file, or a transfer. */
export function largeArrays(value: unknown, path: readonly string[] = []): LargeArray[] {
  if (value instanceof Uint8Array) return value.byteLength > fewBytes ? [{ path, bytes: value }] : []
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return []
  if (path.length === deepest) return []
  return Object.entries(value).flatMap(([key, each]) => largeArrays(each, [...path, key]))
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: Uint8Array | undefined): unknown {
  if (key === undefined) return by
  const object = Object(value) as Record<string, unknown> // on the way to an array that was found in it
  return { ...object, [key]: replaced(object[key], rest, by) }
}
