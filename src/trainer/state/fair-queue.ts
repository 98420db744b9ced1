// Work for the one engine: first come, first served within a lane (a model, a sampler), lanes in turn. A client with a hundred
// requests delays a client with one by a single request.

/** A piece of work in the queue. */
export type Job = { readonly lane: string; readonly work: () => Promise<void> }

export class FairQueue {
  /** Lanes in the order of their turns; none is empty. */
  readonly #lanes = new Map<string, Job[]>()
  #running: Job | undefined

  /** Queues work that handles its own failure. */
  add(lane: string, work: () => Promise<void>): Job {
    const entry = { lane, work }
    const queued = this.#lanes.get(lane)
    if (queued === undefined) this.#lanes.set(lane, [entry])
    else queued.push(entry)
    void this.#pump()
    return entry
  }

  /** How many jobs come before this one; 0 while it runs, undefined when it has ended. */
  ahead(job: Job): number | undefined {
    if (job === this.#running) return 0
    const depth = this.#lanes.get(job.lane)?.indexOf(job) ?? -1
    if (depth === -1) return undefined
    let count = this.#running === undefined ? 0 : 1
    for (const [lane, entries] of this.#lanes) {
      count += lane === job.lane ? depth : Math.min(entries.length, depth + 1)
    }
    return count
  }

  /** Takes back a job that has not begun; false when it has. */
  remove(job: Job): boolean {
    const entries = this.#lanes.get(job.lane)
    const at = entries?.indexOf(job) ?? -1
    if (entries === undefined || at === -1) return false
    entries.splice(at, 1)
    if (entries.length === 0) this.#lanes.delete(job.lane)
    return true
  }

  async #pump(): Promise<void> {
    if (this.#running !== undefined) return
    for (let entry = this.#take(); entry !== undefined; entry = this.#take()) {
      this.#running = entry
      await entry.work()
      this.#running = undefined
    }
  }

  #take(): Job | undefined {
    const [first] = this.#lanes
    if (first === undefined) return undefined
    const [lane, entries] = first
    const entry = entries.shift()
    this.#lanes.delete(lane) // to the end of the round
    if (entries.length > 0) this.#lanes.set(lane, entries)
    return entry
  }
}
