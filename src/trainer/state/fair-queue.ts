// Work for the one engine: first come, first served within a lane (a model, a sampler), lanes in turn. A client with a hundred
// requests delays a client with one by a single request.

/** A piece of work in the queue. */
export type Job = { readonly lane: string; readonly work: () => Promise<void> }

export class FairQueue {
  /** Lanes in the order of their turns. */
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
    for (const [lane, jobs] of this.#lanes) {
      count += lane === job.lane ? depth : Math.min(jobs.length, depth + 1)
    }
    return count
  }

  /** Takes back a job that has not begun; false when it has. */
  remove(job: Job): boolean {
    const entries = this.#lanes.get(job.lane)
    const at = entries?.indexOf(job) ?? -1
    if (entries === undefined || at === -1) return false
    entries.splice(at, 1)
    return true
  }

  async #pump(): Promise<void> {
    if (this.#running !== undefined) return
    for (let job = this.#take(); job !== undefined; job = this.#take()) {
      this.#running = job
      await job.work()
      this.#running = undefined
      this.#endTurn(job.lane)
    }
  }

  #take(): Job | undefined {
    for (const [lane, jobs] of this.#lanes) {
      const job = jobs.shift()
      if (job !== undefined) return job
      this.#lanes.delete(lane)
    }
    return undefined
  }

  // Whoever came meanwhile is before it now.
  #endTurn(lane: string): void {
    const jobs = this.#lanes.get(lane)
    this.#lanes.delete(lane)
    if (jobs !== undefined && jobs.length > 0) this.#lanes.set(lane, jobs)
  }
}
