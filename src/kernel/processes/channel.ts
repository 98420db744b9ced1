// One conversation between two processes or threads: calls with a reply, cancellation and notices, in both directions at the same
// time. It is the only place that pairs replies with calls. It does not know how frames travel, nor how the other side is started
// or ends: see `openChild` for the parent's side, `serve` for the child's.
import * as z from 'zod'
import { ErrorRecord } from '../../contracts/index.ts'
import { EvsysError, type Problem, problemsOf, toRecord } from '../evsys-error.ts'
import { onAbort } from '../map-concurrent.ts'

/** One thing that a side can be asked for. Without `result` it is a notice: nothing comes back. */
export interface Method {
  readonly params: z.ZodType
  readonly result?: z.ZodType | undefined
  /** Calls of it that may be under way at a time; more is a flood. Absent: any number. */
  readonly most?: number | undefined
}

export type Side = Readonly<Record<string, Method>>

/** What two processes may say to each other. */
export interface Protocol {
  readonly parent: Side
  readonly child: Side
}

export type CallsOf<S extends Side> = {
  [M in keyof S]: S[M] extends { readonly result: z.ZodType } ? M : never
}[keyof S]
export type NoticesOf<S extends Side> = Exclude<keyof S, CallsOf<S>>
export type Params<S extends Side, M extends keyof S> = z.input<S[M]['params']>
export type Result<S extends Side, M extends keyof S> = S[M] extends { readonly result: infer R extends z.ZodType }
  ? z.output<R>
  : never

type Handler<M extends Method> = M extends { readonly result: infer R extends z.ZodType }
  ? (params: z.output<M['params']>, signal: AbortSignal) => z.input<R> | Promise<z.input<R>>
  : (params: z.output<M['params']>) => void

/** What a side does when it is asked. The signal aborts when the caller cancels, or the channel is closed. */
export type Handlers<S extends Side> = { readonly [M in keyof S]: Handler<S[M]> }

export type Frame =
  | { readonly type: 'call'; readonly id: number; readonly method: string; readonly params: unknown }
  | { readonly type: 'reply'; readonly id: number; readonly result: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly problems: readonly ErrorRecord[] }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'notice'; readonly method: string; readonly params: unknown }

/** The other side does not keep to the protocol. */
export class ChannelFault extends Error {
  readonly kind: 'garbled' | 'flood'

  constructor(kind: 'garbled' | 'flood', message: string) {
    super(message)
    this.kind = kind
  }
}

export interface ChannelOptions<Here extends Side, There extends Side> {
  readonly here: Here
  readonly there: There
  readonly handlers: Handlers<Here>
  post(frame: Frame): void
  /** False: the other side sends more notices than it may. */
  mayNotice?: (() => boolean) | undefined
  /** How an error of a handler is sent; absent: its problems. */
  problemsOf?: ((error: unknown) => readonly Problem[]) | undefined
}

export interface CallSettings {
  readonly signal?: AbortSignal | undefined
  /**
   * What an abort does besides cancelling the call on the other side. `leave`, the default: the call rejects at once.
   * `wait`: it settles as the other side settles it, which may still have something to say.
   */
  readonly onAbort?: 'leave' | 'wait' | undefined
}

interface Waiting {
  readonly method: Method
  resolve(result: unknown): void
  reject(reason: unknown): void
}

export class Channel<Here extends Side, There extends Side> {
  readonly #options: ChannelOptions<Here, There>
  readonly #waiting = new Map<number, Waiting>()
  readonly #running = new Map<number, { readonly method: string; readonly stopping: AbortController }>()
  #lastId = 0
  #closed: Error | undefined

  constructor(options: ChannelOptions<Here, There>) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.size
  }

  async call<M extends CallsOf<There> & string>(
    name: M,
    params: Params<There, M>,
    { signal, onAbort: how = 'leave' }: CallSettings = {},
  ): Promise<Result<There, M>> {
    const { there, post } = this.#options
    const method = there[name]
    if (method === undefined) throw new TypeError(`the protocol has no call "${name}"`)
    if (this.#closed !== undefined) throw this.#closed
    signal?.throwIfAborted()
    this.#lastId += 1
    const id = this.#lastId
    const reply = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }))
    reply.catch(() => {}) // posting may throw first
    let quiet = () => {}
    try {
      post({ type: 'call', id, method: name, params })
      if (signal !== undefined) {
        quiet = onAbort(signal, () => {
          if (this.#closed === undefined) post({ type: 'cancel', id })
          if (how === 'leave') this.#waiting.get(id)?.reject(signal.reason)
        })
      }
      return (await reply) as Result<There, M> // parsed by its schema in `receive`
    } finally {
      quiet()
      this.#waiting.delete(id)
    }
  }

  notify<M extends NoticesOf<There> & string>(method: M, params: Params<There, M>): void {
    if (this.#closed === undefined) this.#options.post({ type: 'notice', method, params })
  }

  /** Takes in what the other side sent. Throws a `ChannelFault` where that is nothing of the protocol. */
  receive(value: unknown): void {
    if (this.#closed !== undefined) return
    const frame = frameOf(value)
    if (frame.type === 'call') this.#begin(frame)
    else if (frame.type === 'cancel') this.#running.get(frame.id)?.stopping.abort(cancelled())
    else if (frame.type === 'notice') this.#notice(frame)
    else this.#settle(frame)
  }

  /** Calls under way reject with `reason`, and so does every later one; what runs here is aborted. */
  close(reason: Error): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    for (const { reject } of [...this.#waiting.values()]) reject(reason)
    for (const { stopping } of [...this.#running.values()]) stopping.abort(reason)
  }

  #begin({ id, method: name, params: given }: Extract<Frame, { type: 'call' }>): void {
    const { here, handlers } = this.#options
    const method = Object.hasOwn(here, name) ? here[name] : undefined
    if (method?.result === undefined) throw new ChannelFault('garbled', `there is no call "${name}"`)
    const params = parsed(method.params, given)
    const underWay = [...this.#running.values()].filter((each) => each.method === name).length
    if (underWay >= (method.most ?? Number.POSITIVE_INFINITY)) {
      throw new ChannelFault('flood', `more than ${method.most} calls of "${name}" at a time`)
    }
    const stopping = new AbortController()
    this.#running.set(id, { method: name, stopping })
    const handler = handlers[name as keyof Here] as (params: unknown, signal: AbortSignal) => unknown // `params` is parsed
    const answer = async () => handler(params, stopping.signal)
    answer()
      .then(
        (result) => this.#post({ type: 'reply', id, result }),
        (error: unknown) => this.#fail(id, error),
      )
      .catch((error: unknown) => this.#fail(id, error)) // a result that cannot be sent
      .finally(() => this.#running.delete(id))
      .catch(() => {}) // the pipe is gone: the end of the other side reports it
  }

  #fail(id: number, error: unknown): void {
    const problems = (this.#options.problemsOf ?? problemsOf)(error).map(toRecord)
    this.#post({ type: 'failure', id, problems })
  }

  #post(frame: Frame): void {
    if (this.#closed === undefined) this.#options.post(frame)
  }

  #notice({ method: name, params }: Extract<Frame, { type: 'notice' }>): void {
    const { here, handlers, mayNotice } = this.#options
    const method = Object.hasOwn(here, name) ? here[name] : undefined
    if (method === undefined || method.result !== undefined) {
      throw new ChannelFault('garbled', `there is no notice "${name}"`)
    }
    const given = parsed(method.params, params)
    if (mayNotice?.() === false) throw new ChannelFault('flood', 'more notices than are taken')
    try {
      const handler = handlers[name as keyof Here] as (params: unknown) => void // `given` is parsed
      handler(given)
    } catch (error) {
      // The fault of this side: callers that wait for the other one get it.
      for (const { reject } of [...this.#waiting.values()]) reject(error)
    }
  }

  #settle(frame: Extract<Frame, { type: 'reply' | 'failure' }>): void {
    const waiting = this.#waiting.get(frame.id)
    if (waiting === undefined) {
      // Of a call that was cancelled, or of none at all.
      if (this.#options.mayNotice?.() === false) throw new ChannelFault('flood', 'more replies than are taken')
      return
    }
    if (frame.type === 'failure') waiting.reject(EvsysError.many(frame.problems))
    else if (waiting.method.result !== undefined) waiting.resolve(parsed(waiting.method.result, frame.result))
  }
}

function parsed(schema: z.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value)
  if (!success) throw new ChannelFault('garbled', error.message)
  return data
}

function cancelled(): EvsysError {
  return new EvsysError('INTERRUPTED', 'the call was cancelled')
}

const Records = z.array(ErrorRecord).min(1)

// By hand: frames are many, and what they carry is parsed by the schemas of the protocol.
function frameOf(value: unknown): Frame {
  const { type, id, method, problems, params, result } = Object(value) as Partial<Record<string, unknown>> // each is tested
  if (type === 'notice' && typeof method === 'string') return { type, method, params }
  if (typeof id === 'number') {
    if (type === 'call' && typeof method === 'string') return { type, id, method, params }
    if (type === 'reply') return { type, id, result }
    if (type === 'cancel') return { type, id }
    const records = type === 'failure' ? Records.safeParse(problems) : undefined
    if (records?.success === true) return { type: 'failure', id, problems: records.data }
  }
  throw new ChannelFault('garbled', 'this is no frame')
}
