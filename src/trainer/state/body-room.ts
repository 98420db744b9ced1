// Room for the bodies of requests: those that arrive, are parsed, or wait in the queue as work. A key that sends a hundred large ones at
// once is asked to wait, before they fill the memory that all keys share.
import { HttpError } from '../http/http-error.ts'

type Held = { readonly tenant: string | undefined; bytes: number; holders: number }

export class BodyRoom {
  readonly #mostBytes: number
  readonly #requests = new WeakMap<Request, Held>()
  readonly #tenants = new Map<string | undefined, number>()
  #totalBytes = 0

  /** All keys together; one key beside others may hold half of it. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Counts bytes that arrived. The first call for a request makes its caller one that has to `release` it. */
  take(request: Request, tenant: string | undefined, bytes: number): void {
    const held = this.#requests.get(request) ?? { tenant, bytes: 0, holders: 1 }
    const ofTenant = this.#tenants.get(tenant) ?? 0
    // One body alone is always taken: it is bounded by itself.
    const isAlone = ofTenant === held.bytes
    const most = tenant === undefined ? this.#mostBytes : this.#mostBytes / 2
    if (!isAlone && (ofTenant + bytes > most || this.#totalBytes + bytes > this.#mostBytes)) {
      throw new HttpError(429, `requests of ${ofTenant} bytes are being worked on: send more when some are answered`)
    }
    held.bytes += bytes
    this.#requests.set(request, held)
    this.#count(tenant, bytes)
  }

  /** Keeps the room of a request until its work is done as well. */
  holdUntil(request: Request, done: Promise<unknown>): void {
    const held = this.#requests.get(request)
    if (held === undefined) return
    held.holders++
    void done.then(() => this.release(request))
  }

  release(request: Request): void {
    const held = this.#requests.get(request)
    if (held === undefined || --held.holders > 0) return
    this.#requests.delete(request)
    this.#count(held.tenant, -held.bytes)
  }

  #count(tenant: string | undefined, bytes: number): void {
    this.#totalBytes += bytes
    const ofTenant = (this.#tenants.get(tenant) ?? 0) + bytes
    if (ofTenant === 0) this.#tenants.delete(tenant)
    else this.#tenants.set(tenant, ofTenant)
  }
}
