// A file of lines, written as they come: one buffer, however long the file grows.
import { type FileHandle, open } from 'node:fs/promises'
import { fileError } from '../../kernel/index.ts'

const bufferedChars = 1024 * 1024

export interface LineWriter extends AsyncDisposable {
  write(line: string): Promise<void>
  /** Writes out what is left and waits for the disk. */
  finish(): Promise<void>
}

export async function createLineWriter(path: string): Promise<LineWriter> {
  const file = await attempt(path, () => open(path, 'wx'))
  let waiting: string[] = []
  let chars = 0
  const flush = async () => {
    const text = waiting.join('')
    waiting = []
    chars = 0
    if (text !== '') await attempt(path, () => append(file, text))
  }
  return {
    async write(line) {
      waiting.push(line, '\n')
      chars += line.length + 1
      if (chars >= bufferedChars) await flush()
    },
    async finish() {
      await flush()
      await attempt(path, () => file.sync())
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

async function append(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text)
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw fileError('write', path, cause)
  }
}
