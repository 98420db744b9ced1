// Child processes and threads of our own code: forked, or in this process. They are trusted to keep to the protocol and to leave when
// they are asked; what they are is apart from us because they compute for long, or can crash.
import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../evsys-error.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { FilePort } from './byte-files.ts'
import type { Frame } from './channel.ts'
import type { ProcessEnd, StopReason, Transport, TransportEvents } from './child.ts'
import { type Forked, type ForkSpec, forkScript, loaderArgs, takeSpare } from './spare.ts'

export interface ForkedProcessOptions extends ForkSpec {
  /** Large byte arrays travel in files: a pipe takes twenty times as long. */
  readonly bytesInFiles?: boolean | undefined
}

const tailLength = 4000

/** For `openChild`: a process of our own, whose script calls `serve`. A warm spare of the same script and arguments is used. */
export function forkedProcess(options: ForkedProcessOptions): (events: TransportEvents) => Transport {
  return (events) => new ForkedProcess(takeSpare(options) ?? { child: forkScript(options), early: [] }, options, events)
}

class ForkedProcess implements Transport {
  readonly ended: Promise<ProcessEnd>
  readonly #child: Forked['child']
  readonly #port: FilePort
  readonly #folder: string | undefined
  #stopped: StopReason | undefined
  #tail = ''

  constructor({ child, early }: Forked, { bytesInFiles = false }: ForkedProcessOptions, { onFrame }: TransportEvents) {
    this.#child = child
    child.stderr?.on('data', (text) => {
      this.#tail = `${this.#tail}${text}`.slice(-tailLength)
    })
    this.ended = this.#awaitEnd()
    this.#folder = bytesInFiles ? temporaryFolder('bytes') : undefined
    this.#port = new FilePort({
      post(frame, sent) {
        if (child.connected) child.send(Object(frame), () => sent())
        else sent() // no one waits for a frame that does not arrive: `ended` reports it
      },
      take: onFrame,
      onFault: () => this.stop('garbled'),
    })
    for (const frame of early) this.#port.receive(frame)
    child.on('message', (frame) => this.#port.receive(frame))
    if (this.#folder !== undefined) this.#port.useFolder(this.#folder)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  post(frame: Frame): void {
    this.#port.send(frame)
  }

  drained(): Promise<void> {
    return this.#port.drained()
  }

  hold(): void {} // its IPC channel does

  leave(): void {
    this.#stopped ??= 'closed'
    if (this.#child.connected) this.#child.disconnect()
    else this.#child.kill()
  }

  stop(reason: StopReason): void {
    this.#stopped ??= reason
    this.#child.kill('SIGKILL')
  }

  #awaitEnd(): Promise<ProcessEnd> {
    const child = this.#child
    return new Promise<ProcessEnd>((resolve) => {
      const finish = () => {
        const { exitCode: code, signalCode: signal } = child
        resolve({ code, signal, printed: this.#tail, stopped: this.#stopped })
      }
      // Not `close`: it never comes after a disconnect from this side.
      child.once('exit', () => {
        if (child.stderr === null || child.stderr.closed) return finish()
        child.stderr.once('close', finish)
        setTimeout(finish, 1000).unref() // a process that it started may hold the pipe open
      })
      child.once('error', (cause) => {
        this.#tail = messageOf(cause)
        this.#stopped ??= 'not started'
        finish()
      })
      if (child.exitCode !== null || child.signalCode !== null) finish() // a spare that died before it was taken
    }).finally(() => {
      if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    })
  }
}

/** For `openChild`: a thread of this process, whose script calls `serve`. Quicker to start; what kills it kills us. */
export function ownThread(script: URL): (events: TransportEvents) => Transport {
  return ({ onFrame }) => {
    const worker = new Worker(script, { execArgv: loaderArgs(script.href) })
    let stopped: StopReason | undefined
    let printed = ''
    worker.on('message', onFrame)
    worker.on('error', (error) => {
      printed = messageOf(error)
    })
    const stop = (reason: StopReason) => {
      stopped ??= reason
      worker.terminate().catch(() => {}) // `ended` reports it
    }
    return {
      pid: undefined,
      post: (frame) => worker.postMessage(frame),
      drained: async () => {},
      hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
      leave: () => stop('closed'),
      stop,
      ended: new Promise((resolve) => {
        worker.once('exit', (code) => resolve({ code, signal: null, printed, stopped }))
      }),
    }
  }
}
