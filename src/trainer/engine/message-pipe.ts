// Messages between two processes, in their order. Pipes are slow, so weights travel in a file: a gigabyte takes a second instead
// of twenty. Knows where messages hold bytes, not what they are for.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FromEngine, ToEngine } from './engine-messages.ts'

type Message = ToEngine | FromEngine
type Wire = { readonly message: Message; readonly file?: string }

/** A process as seen from the other one. */
export type PipeEnd = {
  send?(message: unknown, handle: undefined, options: undefined, sent: (error: Error | null) => void): boolean
  on(event: 'message', take: (message: unknown) => void): unknown
}

export type MessagePipe<Out> = {
  send: (message: Out) => void
  /** Settles when everything so far has left, or never will. */
  sent(): Promise<void>
}

/** So many bytes are not worth a file. */
const fewBytes = 2 ** 18

/** One end of a pipe. Files are made in `folder`; whoever reads one removes it. */
export function messagePipe<Out extends Message, In extends Message>(
  end: PipeEnd,
  folder: string,
  take: (message: In) => void,
): MessagePipe<Out> {
  let [sending, taking] = [Promise.resolve(), Promise.resolve()]
  let files = 0
  end.on('message', (wire) => {
    taking = taking.then(async () => take((await unpacked(wire as Wire)) as In)) // of the other end, which is ours too
  })
  const deliver = async (message: Out) => {
    const wire = await packed(message, join(folder, `${process.pid}-${files++}`))
    // One that does not arrive has nobody waiting: the other process is gone, which its end tells.
    await new Promise<void>((resolve) => {
      if (end.send === undefined) resolve()
      else end.send(wire, undefined, undefined, () => resolve())
    })
  }
  return {
    send(message) {
      sending = sending.then(() => deliver(message))
    },
    sent: () => sending,
  }
}

async function packed(message: Message, file: string): Promise<Wire> {
  const bytes = bytesOf(message)
  if (bytes === undefined || bytes.length <= fewBytes) return { message }
  try {
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
    return { message: withBytes(message, new Uint8Array()), file }
  } catch {
    await rm(file, { force: true })
    return { message } // no room on the disk: the slow way
  }
}

async function unpacked({ message, file }: Wire): Promise<Message> {
  if (file === undefined) return message
  const bytes = await readFile(file)
  await rm(file, { force: true })
  return withBytes(message, bytes)
}

function bytesOf(message: Message): Uint8Array | undefined {
  if (message.type === 'run' && message.op.op === 'import') return message.op.bytes
  return message.type === 'result' && 'bytes' in message.result ? message.result.bytes : undefined
}

function withBytes(message: Message, bytes: Uint8Array): Message {
  if (message.type === 'run' && message.op.op === 'import') return { ...message, op: { ...message.op, bytes } }
  return message.type === 'result' ? { ...message, result: { bytes } } : message
}
