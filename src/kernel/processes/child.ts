// A child as its parent sees it: a process or thread, and the conversation with it. Every call can have a deadline and a limit of
// silence, and however the child ends, calls under way reject with one typed error. It does not know how the child is started:
// `guardedProcess`, `forkedProcess` and `ownThread` do.
import type { Problem } from '../evsys-error.ts'
import { onAbort } from '../map-concurrent.ts'
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

export type StopReason = 'flood' | 'garbled' | 'silent' | 'closed' | 'not started'

/** How a child ended. `stopped` says why, if it was the parent; `stuck` where its watchdog found it. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The end of what it printed. */
  readonly printed: string
  readonly stopped?: StopReason | undefined
  /** What it was that there was too much of. */
  readonly flooded?: 'printed' | 'messages' | undefined
  readonly stuck?: StuckPlace | undefined
}

/** What the watchdog of a child found: time or memory is spent, and where its main thread was. */
export interface StuckPlace {
  readonly spent?: 'time' | 'memory' | undefined
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/** How frames reach a child, and how it ends. */
export interface Transport {
  readonly pid: number | undefined
  post(frame: Frame): void
  /** Settles when everything posted so far has left this process: wait for it to send no faster than the child reads. */
  drained(): Promise<void>
  /** Whether the child keeps our event loop alive. */
  hold(isHeld: boolean): void
  /** Asks it to leave, where it can be trusted to; else kills it. */
  leave(): void
  /** Kills the child and all it started. */
  stop(reason: StopReason): void
  /** Settles when the child is gone and what it sent has arrived. */
  readonly ended: Promise<ProcessEnd>
}

export interface TransportEvents {
  /** Throwing a `ChannelFault` means that this is no message. */
  onFrame(frame: unknown): void
  /** Its watchdog is alive, whatever the main thread is at. */
  onAlive(): void
}

export interface ChildOptions<P extends Protocol> {
  readonly protocol: P
  readonly start: (events: TransportEvents) => Transport
  /** What the child may ask of this side. */
  readonly handlers: Handlers<P['parent']>
  /** The error of calls that the end of the child leaves without a reply. */
  deathOf(end: ProcessEnd): Error
  /** False: the child sends more notices than it may, and is stopped as a flood. */
  mayNotice?: (() => boolean) | undefined
  /** How an error of a handler is sent to the child; absent: its problems. */
  problemsOf?: ((error: unknown) => readonly Problem[]) | undefined
  /** Called with every sign of life. */
  onAlive?: (() => void) | undefined
}

export interface ChildCall extends Omit<CallSettings, 'onAbort'> {
  /** `kill`: an abort kills the child, and the call rejects with the reason once it is gone. */
  readonly onAbort?: CallSettings['onAbort'] | 'kill'
  /** A child that has not replied by then is stopped as silent. */
  readonly timeoutMs?: number | undefined
  /** A child of which nothing is heard for so long, not even its watchdog, is stopped as silent. */
  readonly silenceMs?: number | undefined
  /** How long the first sign of life may take; absent: `silenceMs`. */
  readonly firstMs?: number | undefined
}

export type Child<P extends Protocol> = ChildProcessChannel<P>

/** Starts a child. It keeps our event loop alive only while a call waits for it. */
export function openChild<P extends Protocol>(options: ChildOptions<P>): Child<P> {
  return new ChildProcessChannel(options)
}

class ChildProcessChannel<P extends Protocol> {
  readonly ended: Promise<ProcessEnd>
  readonly #channel: Channel<P['parent'], P['child']>
  readonly #transport: Transport
  readonly #listening = new Set<SilenceTimer>()
  #end: ProcessEnd | undefined
  #hasSpoken = false

  constructor({ protocol, start, handlers, deathOf, mayNotice, problemsOf, onAlive }: ChildOptions<P>) {
    this.#channel = new Channel({
      here: protocol.parent,
      there: protocol.child,
      handlers,
      mayNotice,
      problemsOf,
      post: (frame) => this.#transport.post(frame),
    })
    const heard = () => {
      this.#hasSpoken = true
      for (const timer of this.#listening) timer.heard()
    }
    this.#transport = start({
      onFrame: (frame) => {
        heard()
        this.#channel.receive(frame)
      },
      onAlive: () => {
        heard()
        onAlive?.()
      },
    })
    this.ended = this.#transport.ended.then((end) => {
      this.#end = end
      this.#channel.close(deathOf(end))
      return end
    })
  }

  get pid(): number | undefined {
    return this.#transport.pid
  }

  /** How it ended, once it has. */
  get end(): ProcessEnd | undefined {
    return this.#end
  }

  /** Asks the child for something. Rejects with its error, or with `deathOf` when it ends before it replies. */
  async call<M extends CallsOf<P['child']> & string>(
    method: M,
    params: Params<P['child'], M>,
    { signal, onAbort: how = 'leave', timeoutMs, silenceMs, firstMs = 0 }: ChildCall = {},
  ): Promise<Result<P['child'], M>> {
    signal?.throwIfAborted()
    const stop = () => this.stop('silent')
    const deadline = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs)
    const silence = silenceMs === undefined ? undefined : new SilenceTimer(silenceMs, stop)
    if (silence !== undefined) this.#listening.add(silence)
    silence?.start(this.#hasSpoken ? silenceMs : Math.max(silence.silenceMs, firstMs))
    const isKilled = how === 'kill'
    const quiet = isKilled && signal !== undefined ? onAbort(signal, () => this.stop('closed')) : () => {}
    this.#transport.hold(true)
    try {
      const result = await this.#channel.call(method, params, isKilled ? {} : { signal, onAbort: how })
      if (isKilled) signal?.throwIfAborted()
      return result
    } catch (error) {
      if (isKilled && signal?.aborted === true) {
        await this.ended
        throw signal.reason
      }
      throw error
    } finally {
      clearTimeout(deadline)
      quiet()
      if (silence !== undefined) this.#listening.delete(silence)
      silence?.stop()
      if (this.#channel.waiting === 0) this.#transport.hold(false)
    }
  }

  notify<M extends NoticesOf<P['child']> & string>(method: M, params: Params<P['child'], M>): void {
    this.#channel.notify(method, params)
  }

  drained(): Promise<void> {
    return this.#transport.drained()
  }

  stop(reason: StopReason): void {
    this.#transport.stop(reason)
  }

  /** Ends the child and waits until it is gone. */
  async close(): Promise<void> {
    this.#transport.leave()
    await this.ended
  }
}

/**
 * Notices when nothing is heard for too long. A parent that was itself asleep or busy first takes in what has arrived in the
 * meantime, and only then judges.
 */
export class SilenceTimer {
  readonly silenceMs: number
  readonly #onSilence: () => void
  #timer: NodeJS.Timeout | undefined
  #isFirst = false
  #signs = 0

  constructor(silenceMs: number, onSilence: () => void) {
    this.silenceMs = silenceMs
    this.#onSilence = onSilence
  }

  /** Begins to listen. The first sign may take `firstMs`: a process has to start. */
  start(firstMs: number = this.silenceMs): void {
    this.#isFirst = firstMs !== this.silenceMs
    this.#listen(firstMs)
  }

  heard(): void {
    this.#signs += 1
    if (this.#timer === undefined) return
    if (this.#isFirst) this.#listen(this.silenceMs)
    else this.#timer.refresh()
    this.#isFirst = false
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #listen(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#check(), ms)
  }

  #check(): void {
    const before = this.#signs
    // Timers come before input in a turn of the event loop, and immediates after it.
    setImmediate(() => {
      if (this.#timer !== undefined && this.#signs === before) this.#onSilence()
    })
  }
}

/** `exit code 3`, or `signal SIGKILL`. */
export function howEnded({ code, signal }: ProcessEnd): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

/** Whether the child says that its memory is spent. */
export function isOutOfMemory({ printed }: ProcessEnd): boolean {
  return /out of memory|allocation failed/i.test(printed)
}

/** The last line that it printed; empty: it printed nothing. */
export function lastPrinted({ printed }: ProcessEnd): string {
  return printed.trim().split('\n').at(-1)?.trim() ?? ''
}
