// The child's side of a guarded process. Foreign code shares the process, so whatever it may replace (process.exit, fs, JSON)
// is taken hold of here, before the first of it runs.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { killGroup } from './kill-group.ts'
import { fromWire, inputFd, outputFd, toWire } from './wire.ts'

export interface ParentLink {
  /** What the controller started this process with. */
  readonly start: unknown
  /** Begins every line to the controller. */
  readonly token: string
  /** Written out when it returns: whatever stops this process next, the message is on its way. */
  say(message: unknown): void
  /** What the controller says, in order. */
  readonly messages: AsyncIterable<unknown>
  /** Ends this process and all that it started. */
  leave(): void
}

const { pid } = process
const write = writeSync
const bytesOf = Buffer.from.bind(Buffer)

/** Opens the pipes to the controller. When it is gone, so is this process. */
export async function openParentLink(): Promise<ParentLink> {
  const leave = () => killGroup(pid)
  const input = new Socket({ fd: inputFd })
  input.once('close', leave)
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  const first = fromWire((await lines.next()).value ?? 'null')
  const { token, start } = Object(first) as { token?: unknown; start?: unknown } // looked at in the next line
  if (typeof token !== 'string') throw new TypeError('this process is started by evsys alone')
  return {
    start,
    token,
    leave,
    say: (message) => writeAll(`${token}${toWire(message)}\n`),
    messages: {
      async *[Symbol.asyncIterator]() {
        for (let line = await lines.next(); line.done !== true; line = await lines.next()) yield fromWire(line.value)
      },
    },
  }
}

function writeAll(text: string): void {
  const bytes = bytesOf(text)
  for (let sent = 0; sent < bytes.length; ) sent += write(outputFd, bytes, sent)
}
