// Work for the one engine: first come, first served within a lane (a model, a sampler), lanes in turn. A client with a hundred
// requests delays a client with one by a single request. Requests for samples whose turns follow each other are with the engine at
// once, which may draw them together.

/** Jobs that are with the engine at once. */
const mostAtOnce = 64

/** A piece of work in the queue. */
export type Job = {
  readonly lane: string
  readonly work: () => Promise<void>
  /** Changes nothing, so that others of its kind may run beside it. */
  readonly shared: boolean
}

export class FairQueue {
  /** Lanes in the order of their turns. */
  readonly #lanes = new Map<string, Job[]>()
  readonly #running = new Map<Job, Promise<void>>()
  #isPumping = false

  /** Queues work that handles its own failure. */
  add(lane: string, work: () => Promise<void>, { shared = false } = {}): Job {
    const entry = { lane, work, shared }
    const queued = this.#lanes.get(lane) ?? []
    queued.push(entry)
    this.#lanes.set(lane, queued)
    void this.#pump()
    return entry
  }

  /** How many jobs come before this one; 0 while it runs, undefined when it has ended. */
  ahead(job: Job): number | undefined {
    if (this.#running.has(job)) return 0
    const depth = this.#lanes.get(job.lane)?.indexOf(job) ?? -1
    if (depth === -1) return undefined
    let count = this.#running.size
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
    if (this.#isPumping) return
    this.#isPumping = true
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      if (!this.#mayStart(job)) {
        await Promise.race(this.#running.values()) // then again: the job may have been removed
        continue
      }
      this.#lanes.get(job.lane)?.shift()
      const ended = this.#start(job)
      if (!job.shared) await ended
      this.#endTurn(job.lane)
    }
    this.#isPumping = false
  }

  #mayStart({ shared }: Job): boolean {
    if (this.#running.size === 0) return true
    return shared && this.#running.size < mostAtOnce && [...this.#running.keys()].every((each) => each.shared)
  }

  #start(job: Job): Promise<void> {
    const ended = job.work().then(() => void this.#running.delete(job))
    this.#running.set(job, ended)
    return ended
  }

  #next(): Job | undefined {
    for (const [lane, [job]] of this.#lanes) {
      if (job !== undefined) return job
      this.#lanes.delete(lane)
    }
    return undefined
  }

  // Lanes that were added meanwhile come before it now.
  #endTurn(lane: string): void {
    const jobs = this.#lanes.get(lane)
    this.#lanes.delete(lane)
    if (jobs !== undefined && jobs.length > 0) this.#lanes.set(lane, jobs)
  }
}
