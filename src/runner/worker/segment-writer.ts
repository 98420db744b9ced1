// The segment of one attempt at a run: what its worker reports, one numbered item per line, appended. A process that is killed in
// the middle of a line leaves it torn; readers ignore it, and a writer that resumes removes it first.
import { writeSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { EvalMark, Item } from '../../contracts/index.ts'
import { fileError } from '../../kernel/index.ts'

interface Line {
  readonly text: string
  done(): void
  failed(error: unknown): void
}

export async function openSegmentWriter(file: string) {
  const handle = await openForAppending(file)
  let waiting: Line[] = []
  let failure: Error | undefined

  // Lines of one turn of the event loop leave together. A line is small and goes into the memory of the system: a thread to write it
  // would cost more than a step of a small model.
  const writeWaiting = () => {
    const batch = waiting
    waiting = []
    try {
      if (failure !== undefined) throw failure
      writeWhole(handle.fd, Buffer.from(batch.map(({ text }) => text).join('')))
      for (const { done } of batch) done()
    } catch (cause) {
      failure ??= fileError('write', file, cause)
      for (const { failed } of batch) failed(failure)
    }
  }

  return {
    /** Resolves when the operating system has the line: it outlives this process. A write that failed fails all that follow. */
    write(n: number, item: Item | EvalMark): Promise<void> {
      return new Promise((done, failed) => {
        waiting.push({ text: `${JSON.stringify({ n, item })}\n`, done, failed })
        if (waiting.length === 1) setImmediate(writeWaiting)
      })
    },
    async close() {
      if (waiting.length > 0) writeWaiting()
      await handle.close()
    },
  }
}

async function openForAppending(file: string): Promise<FileHandle> {
  let handle: FileHandle | undefined
  try {
    await mkdir(dirname(file), { recursive: true })
    handle = await open(file, 'a+')
    const { size } = await handle.stat()
    const end = size === 0 ? 0 : await endOfLastLine(handle, size)
    if (end < size) await handle.truncate(end)
    return handle
  } catch (cause) {
    await handle?.close()
    throw fileError('open', file, cause)
  }
}

const newline = 10
const chunkBytes = 64 * 1024

async function endOfLastLine(handle: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(Math.min(chunkBytes, size))
  for (let end = size; end > 0; end -= chunk.length) {
    const start = Math.max(0, end - chunk.length)
    const { bytesRead } = await handle.read(chunk, 0, end - start, start)
    const at = chunk.subarray(0, bytesRead).lastIndexOf(newline)
    if (at !== -1) return start + at + 1
  }
  return 0
}

// A full disk takes part of a write without an error and refuses the rest.
function writeWhole(fd: number, bytes: Buffer): void {
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(fd, bytes, sent)
}

const pauseMs = 50

/** Notifies the controller that the segment has grown: at once, then not again for a moment however much is written. */
export function notifyWritten(send: (nextItem: number) => void) {
  let next = 0
  let sent = 0
  let pause: NodeJS.Timeout | undefined
  const flush = () => {
    pause = undefined
    if (next === sent) return
    sent = next
    send(next)
    pause = setTimeout(flush, pauseMs)
  }
  return {
    written(nextItem: number) {
      next = Math.max(next, nextItem)
      if (pause === undefined) flush()
    },
    /** Sends the last of it. */
    close() {
      clearTimeout(pause)
      flush()
      clearTimeout(pause)
      pause = undefined
    },
  }
}
