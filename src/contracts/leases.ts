// Who may act now, with fencing: an old holder that comes back late cannot write.

/** The right to act under a name, as long as nobody took over: whoever does gets a higher epoch. */
export interface Lease {
  readonly name: string
  readonly owner: string
  readonly epoch: number
}

/**
 * A lease that was not renewed in time belongs to whoever asks next. Its old holder learns of it at the next renewal or write
 * and stops.
 */
export interface Leases {
  /** The lease, or undefined while somebody else holds it. */
  acquire(name: string, owner: string, ttlMs: number, note?: string): Promise<Lease | undefined>
  /** Takes a lease from a holder that is known to be gone, without waiting for its end; undefined: it moved on. */
  takeOver(held: Lease, owner: string, ttlMs: number, note?: string): Promise<Lease | undefined>
  /** False: it was lost. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /** Who holds it now. */
  holder(name: string): Promise<(Lease & { note: string; untilMs: number }) | undefined>
}
