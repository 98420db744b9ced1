// The child's side of the conversation, in a process or thread that `openChild` started. Foreign code may share the process, so
// whatever it may replace (process.exit, fs, JSON) is kept here before the first of it runs.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { parentPort } from 'node:worker_threads'
import type { Problem } from '../evsys-error.ts'
import { FilePort, largeArrays } from './byte-files.ts'
import {
  type CallSettings,
  type CallsOf,
  Channel,
  type Frame,
  type Handlers,
  type NoticesOf,
  type Params,
  type Protocol,
  type Result,
} from './channel.ts'
import { killGroup } from './kill-group.ts'
import { startWatchdog, type Watchdog, type WatchOptions } from './watchdog.ts'
import { fromWire, inputFd, outputFd, toWire } from './wire.ts'

/** The parent, as its child sees it. */
export interface Parent<P extends Protocol> {
  call<M extends CallsOf<P['parent']> & string>(
    method: M,
    params: Params<P['parent'], M>,
    settings?: CallSettings,
  ): Promise<Result<P['parent'], M>>
  /** From a process with foreign code it is on its way when this returns, whatever stops the process next. */
  notify<M extends NoticesOf<P['parent']> & string>(method: M, params: Params<P['parent'], M>): void
  /** Starts the watchdog, in a process with foreign code. */
  watch(options: WatchOptions): Watchdog
  /** Ends this process and all that it started. */
  leave(): void
}

export interface ServeOptions {
  /** How an error of a handler is sent; absent: its problems. */
  readonly problemsOf?: ((error: unknown) => readonly Problem[]) | undefined
}

/** Serves the parent until it is gone; then this process ends too. */
export async function serve<P extends Protocol>(
  protocol: P,
  handlersOf: (parent: Parent<P>) => Handlers<P['child']>,
  { problemsOf }: ServeOptions = {},
): Promise<Parent<P>> {
  const link = parentPort !== null ? threadLink(parentPort) : process.send === undefined ? await pipeLink() : ipcLink()
  const parent: Parent<P> = {
    call: (...call) => channel.call(...call),
    notify: (...notice) => channel.notify(...notice),
    watch: (options) => startWatchdog({ ...options, token: link.token, parentPid: process.ppid }),
    leave: link.leave,
  }
  const channel = new Channel<P['child'], P['parent']>({
    here: protocol.child,
    there: protocol.parent,
    handlers: handlersOf(parent),
    problemsOf,
    post: link.post,
  })
  link.listen((frame) => {
    try {
      channel.receive(frame)
    } catch {
      link.leave() // nothing of ours: no conversation is left
    }
  })
  return parent
}

interface Link {
  /** Begins every line to the parent. */
  readonly token: string
  post(frame: Frame): void
  listen(take: (frame: unknown) => void): void
  leave(): void
}

const { pid } = process
const write = writeSync
const bytesOf = Buffer.from.bind(Buffer)
const exit = process.exit.bind(process)

/** The pipes of a process with foreign code. When the parent is gone, so is this process. */
async function pipeLink(): Promise<Link> {
  const leave = () => killGroup(pid)
  const input = new Socket({ fd: inputFd })
  input.once('close', leave)
  let hello: (line: string) => void = () => {}
  const first = new Promise<string>((resolve) => {
    hello = resolve
  })
  const { listen, post } = portLink((take) => {
    let isFirst = true
    createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      if (isFirst) hello(line)
      else take(fromWire(line))
      isFirst = false
    })
    return (frame) => writeAll(`${token}${toWire(frame)}\n`)
  })
  const { token } = Object(fromWire(await first)) as { token?: unknown } // looked at in the next line
  if (typeof token !== 'string') throw new TypeError('this process is started by evsys alone')
  return { token, leave, post, listen }
}

function writeAll(text: string): void {
  const bytes = bytesOf(text)
  for (let sent = 0; sent < bytes.length; ) sent += write(outputFd, bytes, sent)
}

/** The IPC channel of a process that was forked. */
function ipcLink(): Link {
  const leave = () => exit(0)
  process.once('disconnect', leave)
  if (!process.connected) leave() // gone before there was a listener
  return {
    token: '',
    leave,
    ...portLink((take) => {
      const port = new FilePort({
        post: (frame, sent) => process.send?.(frame, undefined, undefined, () => sent()),
        take,
        onFault: leave,
      })
      process.on('message', (wire) => port.receive(wire))
      return (frame) => port.send(frame)
    }),
  }
}

function threadLink(port: NonNullable<typeof parentPort>): Link {
  return {
    token: '',
    leave: () => port.close(),
    // Weights are too large to copy: they are transferred where the array owns its memory.
    post: (frame) => port.postMessage(frame, transferable(frame)),
    listen: (take) => void port.on('message', take),
  }
}

function transferable(frame: Frame): ArrayBuffer[] {
  return largeArrays(frame).flatMap(({ bytes: { buffer, byteLength } }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
  )
}

// What comes before there is a listener is kept for it.
function portLink(open: (take: (frame: unknown) => void) => Link['post']): Pick<Link, 'post' | 'listen'> {
  const waiting: unknown[] = []
  let take = (frame: unknown): void => void waiting.push(frame)
  const post = open((frame) => take(frame))
  return {
    post,
    listen(taker) {
      take = taker
      for (const frame of waiting.splice(0)) taker(frame)
    },
  }
}
