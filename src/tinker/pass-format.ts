// The form in which a pass over data is sent. Protobuf is tried first; a service that answers it as something it does not know
// gets the same request as JSON, and what it then takes is kept to.
import { createRequire } from 'node:module'
import * as tinker from '../contracts/tinker/index.ts'
import type { Call, Caller } from './caller.ts'
import { ServiceError } from './service-error.ts'
import type { OnTinkerEvent } from './tinker-event.ts'
import { toJsonDatum } from './wire-datum.ts'

type Format = 'json' | 'protobuf'

// How services that know no protobuf answer it: media type, body or route unknown.
const notUnderstood = [404, 405, 415, 422]

export class PassFormat {
  readonly #caller: Caller
  readonly #onEvent: OnTinkerEvent
  readonly #compress: ((bytes: Uint8Array) => Uint8Array) | undefined
  #format: Format
  #isProven: boolean

  constructor(options: { caller: Caller; onEvent: OnTinkerEvent; wire: 'auto' | Format; compress: boolean }) {
    this.#caller = options.caller
    this.#onEvent = options.onEvent
    this.#format = options.wire === 'json' ? 'json' : 'protobuf'
    this.#isProven = options.wire !== 'auto'
    this.#compress = options.compress ? findZstd() : undefined
  }

  /** Sends a pass and gives its promise. */
  async send(request: tinker.ForwardBackwardRequest): Promise<tinker.UntypedFuture> {
    if (this.#format === 'json') return this.#sendJson(request)
    try {
      const future = await this.#sendProtobuf(request)
      if (!this.#isProven) this.#settle('protobuf')
      return future
    } catch (error) {
      const isUnknown = error instanceof ServiceError && notUnderstood.includes(error.status ?? 0)
      if (this.#isProven || !isUnknown) throw error
      const future = await this.#sendJson(request)
      this.#settle('json')
      return future
    }
  }

  #settle(format: Format): void {
    if (this.#isProven) return
    this.#format = format
    this.#isProven = true
    this.#onEvent({ type: 'wire', format })
  }

  #sendProtobuf(request: tinker.ForwardBackwardRequest): Promise<tinker.UntypedFuture> {
    const plain = tinker.encodeForwardBackwardRequest(request)
    const bytes =
      this.#compress === undefined
        ? { data: plain, type: 'application/x-protobuf' }
        : { data: new Uint8Array(this.#compress(plain)), type: 'application/x-protobuf', encoding: 'zstd' }
    return this.#post({ method: 'POST', path: '/api/v1/forward_backward', bytes })
  }

  // As JSON a forward pass has a route of its own: a service that overlooked `forward_only` would train on it.
  #sendJson({ model_id, seq_id, forward_backward_input, forward_only }: tinker.ForwardBackwardRequest) {
    const { data, loss_fn, loss_fn_config } = forward_backward_input
    const input = {
      data: data.map(toJsonDatum),
      loss_fn,
      ...(loss_fn_config == null ? {} : { loss_fn_config }),
    }
    return forward_only
      ? this.#post({ method: 'POST', path: '/api/v1/forward', json: { model_id, seq_id, forward_input: input } })
      : this.#post({
          method: 'POST',
          path: '/api/v1/forward_backward',
          json: { model_id, seq_id, forward_backward_input: input },
        })
  }

  #post(call: Call): Promise<tinker.UntypedFuture> {
    return this.#caller.json(call, tinker.UntypedFuture)
  }
}

// Node has zstd since 22.15. Without it the body goes uncompressed, which every service takes.
function findZstd(): ((bytes: Uint8Array) => Uint8Array) | undefined {
  const compress: unknown = Reflect.get(createRequire(import.meta.url)('node:zlib'), 'zstdCompressSync')
  return typeof compress === 'function' ? (bytes) => compress(bytes) : undefined
}
